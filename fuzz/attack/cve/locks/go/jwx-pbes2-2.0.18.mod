module sealab-go-libs

go 1.26

require github.com/lestrrat-go/jwx/v2 v2.0.18

require (
	github.com/lestrrat-go/blackmagic v1.0.2 // indirect
	github.com/lestrrat-go/httpcc v1.0.1 // indirect
	github.com/lestrrat-go/httprc v1.0.4 // indirect
	github.com/lestrrat-go/iter v1.0.2 // indirect
	github.com/lestrrat-go/option v1.0.1 // indirect
	golang.org/x/crypto v0.16.0 // indirect
)
