//go:build !linux

package transport

// newMemoryFile returns a file on disk, since other systems do not have files in memory.
func newMemoryFile() (*scratchFile, error) { return newDiskFile() }
