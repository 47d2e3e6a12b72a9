// Command serve plays the services of Sigstore for a test. It keeps the trust of a client in the folder of TUF_ROOT, prints the address of a transparency log, and
// serves the log until its input ends.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"time"

	"github.com/intentplane/intentplane/tools/release/sigstore"
)

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sigstore:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, end io.Reader, out io.Writer) error {
	l, err := sigstore.NewLog(time.Now)
	if err != nil {
		return err
	}
	if err := sigstore.Trust(ctx, l.PublicKey, time.Now()); err != nil {
		return err
	}
	s := httptest.NewServer(l)
	defer s.Close()
	if _, err := fmt.Fprintln(out, s.URL); err != nil {
		return fmt.Errorf("cannot print the address: %w", err)
	}
	_, err = io.Copy(io.Discard, end)
	return err
}
