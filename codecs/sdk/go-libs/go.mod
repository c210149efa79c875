module sealab-go-libs

go 1.26
