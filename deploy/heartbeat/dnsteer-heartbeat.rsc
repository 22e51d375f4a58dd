# Has a RouterOS device report itself to dnsteer every ten seconds. Write the
# controller's address, the node's name, its token and the interface whose
# traffic counts into the first lines, and the authority of the controller's
# certificate into /certificate; then import the file.
:local url "https://dnsteer.example.lan/api/v1/heartbeat/berlin/router"
:local token "PUT-THE-TOKEN-HERE"
:local wan "ether1"
/system script remove [find name="dnsteer-heartbeat"]
/system scheduler remove [find name="dnsteer-heartbeat"]
/system script add name="dnsteer-heartbeat" policy=read,test source="
:local cpu [/system resource get cpu-load]
:local load ([:tostr (\$cpu / 100)] . \".\" . [:pick [:tostr (100 + (\$cpu % 100))] 1 3])
:local bytes ([/interface get \"$wan\" rx-byte] + [/interface get \"$wan\" tx-byte])
:local sessions [/ip firewall connection print count-only where tcp-state=\"established\"]
:local body (\"{\\\"load\\\": \" . \$load . \", \\\"bytes\\\": \" . \$bytes . \", \\\"sessions\\\": \" . \$sessions . \"}\")
/tool fetch url=\"$url\" http-method=post check-certificate=yes http-header-field=\"Authorization: Bearer $token,Content-Type: application/json\" http-data=\$body output=none
"
/system scheduler add name="dnsteer-heartbeat" interval=10s on-event="/system script run dnsteer-heartbeat" policy=read,test
