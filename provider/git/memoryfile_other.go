//go:build !linux

package git

// memoryFile is a file on disk, where there are no others.
func memoryFile() (*scratch, error) { return diskFile() }
