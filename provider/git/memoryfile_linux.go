package git

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// memoryFile is a file that is on no disk, for the container of a provider has none that it may write to. Where the kernel does not allow
// that, it is one on disk.
func memoryFile() (*scratch, error) {
	fd, err := unix.MemfdCreate("known_hosts", unix.MFD_CLOEXEC)
	if err != nil {
		return diskFile()
	}
	f := os.NewFile(uintptr(fd), "known_hosts")
	return &scratch{File: f, path: fmt.Sprintf("/proc/self/fd/%d", fd), remove: func() { _ = f.Close() }}, nil
}
