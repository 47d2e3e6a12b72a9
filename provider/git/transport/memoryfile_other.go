//go:build !linux

package transport

// memoryFile is a file on disk, where there are no others.
func memoryFile() (*scratch, error) { return diskFile() }
