package app

const childConfig = "DNSTEER_TEST_CONFIG"

func child(string) int { return 0 }
