package transport

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newMemoryFile returns a file in memory, for the container of a provider has no disk that it may write to. Where the kernel does not
// allow that, it is one on disk.
func newMemoryFile() (*scratchFile, error) {
	fd, err := unix.MemfdCreate("known_hosts", unix.MFD_CLOEXEC)
	if err != nil {
		return newDiskFile()
	}
	f := os.NewFile(uintptr(fd), "known_hosts")
	return &scratchFile{File: f, path: fmt.Sprintf("/proc/self/fd/%d", fd), remove: func() { _ = f.Close() }}, nil
}
