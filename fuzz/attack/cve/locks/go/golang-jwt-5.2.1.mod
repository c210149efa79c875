module sealab-go-libs

go 1.26

require github.com/golang-jwt/jwt/v5 v5.2.1
