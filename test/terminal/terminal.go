// Package terminal opens pseudo terminals, for programs that behave otherwise on one.
package terminal

import (
	"os"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sys/unix"
)

// Open returns both ends of a new terminal of a size. Output that a program writes to its end can be read from the other end, which has to be
// read: a terminal keeps little.
func Open(columns, lines uint16) (reader, program *os.File, err error) {
	reader, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot open terminal")
	}
	program, err = openProgramEnd(reader, columns, lines)
	if err != nil {
		return nil, nil, errors.Join(errors.Wrap(err, "cannot open terminal"), reader.Close())
	}
	return reader, program, nil
}

func openProgramEnd(reader *os.File, columns, lines uint16) (*os.File, error) {
	// The descriptor itself would take its deadlines from the file.
	raw, err := reader.SyscallConn()
	if err != nil {
		return nil, err
	}
	n, failure := 0, error(nil)
	err = raw.Control(func(fd uintptr) { n, failure = prepareTerminal(int(fd), columns, lines) })
	if err := errors.Join(err, failure); err != nil {
		return nil, err
	}
	return os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
}

// prepareTerminal unlocks a terminal, gives it a size, and returns its number.
func prepareTerminal(fd int, columns, lines uint16) (int, error) {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return 0, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
		return 0, err
	}
	return unix.IoctlGetInt(fd, unix.TIOCGPTN)
}
