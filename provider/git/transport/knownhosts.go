package transport

import (
	"bytes"
	"io"
	"net"
	"os"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// knownHosts are the host keys that are trusted.
type knownHosts struct {
	db *knownhosts.HostKeyDB
}

// checkKnownHosts returns an error for missing or malformed known hosts.
func checkKnownHosts(lines []byte) error {
	if len(bytes.TrimSpace(lines)) == 0 {
		return errors.New("known hosts are empty: add the host keys of the SSH server")
	}
	found := 0
	for rest := lines; len(bytes.TrimSpace(rest)) > 0; found++ {
		_, _, _, _, next, err := ssh.ParseKnownHosts(rest)
		// Comments are at the end.
		if errors.Is(err, io.EOF) && found > 0 {
			return nil
		}
		if err != nil {
			return errors.New("known hosts are malformed")
		}
		rest = next
	}
	return nil
}

// readKnownHosts goes through something that has a path, since the library reads nothing else.
func readKnownHosts(lines []byte) (*knownHosts, error) {
	f, err := newMemoryFile()
	if err != nil {
		return nil, &failure.ClassifiedError{Class: failure.ClassTransient, Detail: "cannot make a temporary file of the known hosts"}
	}
	defer f.remove()
	if _, err = f.Write(lines); err != nil {
		return nil, &failure.ClassifiedError{Class: failure.ClassTransient, Detail: "cannot write a temporary file of the known hosts"}
	}
	db, err := knownhosts.NewDB(f.path)
	if err != nil {
		return nil, &failure.ClassifiedError{Class: failure.ClassInvalid, Detail: "the known hosts are malformed"}
	}
	return &knownHosts{db: db}, nil
}

// A scratchFile is a file that is gone when it is closed.
type scratchFile struct {
	*os.File

	path string
	// remove the file. It held public keys only.
	remove func()
}

// newDiskFile returns a file in the directory for temporary files.
func newDiskFile() (*scratchFile, error) {
	f, err := os.CreateTemp("", "known_hosts")
	if err != nil {
		return nil, errors.Wrap(err, "cannot create file")
	}
	return &scratchFile{File: f, path: f.Name(), remove: func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}}, nil
}

// hostKeyAlgorithms returns the algorithms of the known keys of a server, without algorithms that are not safe any more.
func (k *knownHosts) hostKeyAlgorithms(address string) []string {
	safe := ssh.SupportedAlgorithms().HostKeys
	return slices.DeleteFunc(k.db.HostKeyAlgorithms(address), func(a string) bool { return !slices.Contains(safe, a) })
}

// A hostKeyError is a host key that is not trusted.
type hostKeyError struct {
	failure.ClassifiedError
}

// Error returns the reason.
func (e *hostKeyError) Error() string { return e.Detail }

// checkHostKey checks a key that a server shows. It returns a hostKeyError.
func (k *knownHosts) checkHostKey(host string, remote net.Addr, key ssh.PublicKey) error {
	var (
		revoked  *xknownhosts.RevokedError
		keyError *xknownhosts.KeyError
	)
	err := k.db.HostKeyCallback()(host, remote, key)
	detail := "its server's host certificate is not valid"
	switch {
	case err == nil:
		return nil
	case errors.As(err, &revoked):
		detail = "its server shows a host key that was revoked"
	case errors.As(err, &keyError) && len(keyError.Want) > 0:
		detail = "its server shows a host key that differs from the known host key"
	case errors.As(err, &keyError):
		detail = "the known hosts have no key for its server"
	}
	return &hostKeyError{failure.ClassifiedError{Class: failure.ClassTrust, Detail: detail}}
}
