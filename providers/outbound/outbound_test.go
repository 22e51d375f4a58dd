package alert

import "testing"

// If this fails, whoever answers for the name of a webhook can have the keys of the
// machine asked for, and read what is said of the answer.
func TestNamesLeadToNoMetadata(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:80": true, "[fe80::1%eth0]:443": true, "[::ffff:169.254.1.1]:80": true, "[fd00:ec2::254]:80": true,
		"127.0.0.1:25": false, "10.0.0.1:443": false, "192.0.2.1:443": false, "[fd00::1]:443": false, "[2001:db8::1]:443": false,
	} {
		err := refuseMetadata("tcp", address, nil)
		if (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}
