// Command hello prints where it was built from.
package main

func main() { print("from the file") }
