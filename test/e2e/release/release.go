// Package release makes releases of this checkout.
package release

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// version is the version of the releases. No release of the project has it.
const version = "v1.91.0"

// A sigstore is the played services of Sigstore.
type sigstore struct {
	// log is the address of the transparency log.
	log string

	// cache is a folder for the packages that Crossplane pulls, in which Crossplane keeps its trust.
	cache string
}

// startSigstore starts the services, which end with the test.
func startSigstore(t *testing.T) sigstore {
	t.Helper()
	program, err := toolbox.Path(t.Context(), "PLAYED_SIGSTORE")
	if err != nil {
		t.Fatal(err)
	}
	s := sigstore{cache: t.TempDir()}
	trust := filepath.Join(s.cache, ".sigstore", "root")
	if err := os.MkdirAll(trust, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "TUF_ROOT="+trust)
	problems := &bytes.Buffer{}
	cmd.Stderr = problems
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close() // The program ends in any case.
		if err := cmd.Wait(); err != nil {
			t.Errorf("the played Sigstore ended with %v: %s", err, problems)
		}
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the played Sigstore prints no address: %v: %s", err, problems)
	}
	s.log = strings.TrimSpace(line)
	return s
}

// writeSigningKey writes a private key into a file.
func writeSigningKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
