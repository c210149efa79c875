module sealab-go-libs

go 1.26

require github.com/go-jose/go-jose/v4 v4.0.5

require golang.org/x/crypto v0.32.0 // indirect
