module sealab

go 1.26.0
