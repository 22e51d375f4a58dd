package probes

const acceptorEnv = "DNSTEER_TEST_ACCEPTOR"

func acceptor() {}
