// Command hello says where it is from.
package main

func main() { print("from the file") }
