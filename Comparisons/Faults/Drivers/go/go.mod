module example.com/faults

go 1.27

require golang.org/x/net v0.0.0

// The list of public suffixes, from Debian's package golang-golang-x-net-dev.
replace golang.org/x/net => /usr/share/gocode/src/golang.org/x/net
