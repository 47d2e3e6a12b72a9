package git

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/signature"
	"github.com/intentplane/intentplane/test/gitserver"
)

// A pair is a signing key and its public key in the format of the git command.
type pair struct {
	key    signature.Key
	public string
}

func sshPair(t *testing.T) pair {
	t.Helper()
	k, private, err := gitserver.NewSSHKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair{key: signature.Key{Format: signature.FormatSSH, Private: string(private)}, public: authorizedKey(k)}
}

// sealedPair is of a kind whose signatures differ each time.
func sealedPair(t *testing.T) pair {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(k, "", []byte("open"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		key:    signature.Key{Format: signature.FormatSSH, Private: string(pem.EncodeToMemory(block)), Passphrase: "open"},
		public: string(ssh.MarshalAuthorizedKey(public)),
	}
}

func pgpPair(t *testing.T) pair {
	t.Helper()
	e, err := openpgp.NewEntity("Intentplane", "", "intentplane@example.org", nil)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, write func(w *bytes.Buffer) error) string {
		raw, out := &bytes.Buffer{}, &bytes.Buffer{}
		if err := write(raw); err != nil {
			t.Fatal(err)
		}
		w, err := armor.Encode(out, kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(raw.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	public := encode(openpgp.PublicKeyType, func(w *bytes.Buffer) error { return e.Serialize(w) })
	if err := e.EncryptPrivateKeys([]byte("open"), nil); err != nil {
		t.Fatal(err)
	}
	private := encode(openpgp.PrivateKeyType, func(w *bytes.Buffer) error { return e.SerializePrivateWithoutSigning(w, nil) })
	return pair{key: signature.Key{Format: signature.FormatOpenPGP, Private: private, Passphrase: "open"}, public: public}
}

func signing(k signature.Key) func(*Remote) { return func(r *Remote) { r.Signing = &k } }

// verified returns the error of git verify-commit, with the key of the pair as the trusted key.
func verified(t *testing.T, s *gitserver.Server, p pair, commit string) error {
	t.Helper()
	dir := t.TempDir()
	public := filepath.Join(dir, "key")
	content, args := p.public, []string{"-c", "gpg.format=openpgp"}
	if p.key.Format == signature.FormatSSH {
		content = "intentplane@example.org " + p.public
		args = []string{"-c", "gpg.format=ssh", "-c", "gpg.ssh.allowedSignersFile=" + public}
	}
	if err := os.WriteFile(public, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GNUPGHOME="+dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if p.key.Format == signature.FormatOpenPGP {
		cmd := exec.CommandContext(t.Context(), "gpg", "--batch", "--quiet", "--import", public)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("gpg: %v\n%s", err, out)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", append(args, "verify-commit", commit)...)
	cmd.Dir, cmd.Env = s.Path(repo), env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("git verify-commit: %s", out)
	}
	return err
}

func TestSignedCommits(t *testing.T) {
	cases := map[string]struct {
		reason string
		make   func(*testing.T) pair
	}{
		"SSH":     {reason: "A state that an SSH key signed counts.", make: sshPair},
		"ECDSA":   {reason: "A state that an SSH key with a passphrase signed counts, though its signatures differ each time.", make: sealedPair},
		"OpenPGP": {reason: "A state that an OpenPGP key with a passphrase signed counts.", make: pgpPair},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := tc.make(t)
			s := serve(t, map[string]string{"README.md": "hello"})
			c := client(t, s, signing(p.key))
			push(t, c, plan(t, look(t, c), delivery(1)))
			for _, ref := range []string{gitserver.Branch, stateRef} {
				if err := verified(t, s, p, ref); err != nil {
					t.Errorf("\n%s\ngit verify-commit %s: %v", tc.reason, ref, err)
				}
			}
			run(t, s, "fsck", "--strict")
			next := look(t, client(t, s, signing(p.key)))
			if diff := cmp.Diff("", next.StateForged()); diff != "" {
				t.Errorf("\n%s\nStateForged(): -want, +got:\n%s", tc.reason, diff)
			}
			if repeated := plan(t, next, delivery(1)); !repeated.Empty() {
				t.Errorf("\n%s\nPlan(...): the delivered files are planned again", tc.reason)
			}
			otherSigner := tc.make(t)
			if err := verified(t, s, otherSigner, gitserver.Branch); err == nil {
				t.Errorf("\n%s\ngit verify-commit: it accepts another key", tc.reason)
			}
			if diff := cmp.Diff("no trusted key signed it", look(t, client(t, s, signing(otherSigner.key))).StateForged()); diff != "" {
				t.Errorf("\n%s\nStateForged(): -want, +got:\n%s", tc.reason, diff)
			}
			otherSigner.key.Trusted = []byte(p.public)
			if diff := cmp.Diff("", look(t, client(t, s, signing(otherSigner.key))).StateForged()); diff != "" {
				t.Errorf("\n%s: a key that was replaced\nStateForged(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestForgedState(t *testing.T) {
	p := sshPair(t)
	unmanaged := func(t *testing.T, s *gitserver.Server) {
		t.Helper()
		c := client(t, s)
		forged := delivery(7)
		forged.Put, forged.State = nil, files("claims/ns/web", "revision: 99\n", "claims/ns/other", "revision: 99\n")
		push(t, c, plan(t, look(t, c), forged))
	}
	cases := map[string]struct {
		reason string
		forge  func(*testing.T, *gitserver.Server)
		want   string
	}{
		"CVE-2024-31989-Unsigned": {reason: "A state that another user pushes is not believed where states are signed.", forge: unmanaged, want: "it is not signed"},
		"CVE-2024-31989-OtherKey": {
			reason: "A state that another user signs with a key of their own is not believed.",
			forge: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				c := client(t, s, signing(sshPair(t).key))
				push(t, c, plan(t, look(t, c), delivery(7)))
			},
			want: "no trusted key signed it",
		},
		"Branch": {
			reason: "A signed commit of the branch does not count as a state, for it has unmanaged files.",
			forge: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				run(t, s, "update-ref", stateRef, gitserver.Branch)
			},
			want: "the signed commit is not the state of this ref",
		},
		"OtherState": {
			reason: "The signed state of another control plane does not count.",
			forge: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				c := client(t, s, signing(p.key), func(r *Remote) { r.StateRef = "refs/intentplane/other/state" })
				push(t, c, plan(t, look(t, c), delivery(7)))
				run(t, s, "update-ref", stateRef, "refs/intentplane/other/state")
			},
			want: "the signed commit is not the state of this ref",
		},
		"Changed": {
			reason: "A signature of other content does not count.",
			forge: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				raw := strings.Replace(run(t, s, "cat-file", "commit", stateRef), " 1", " 2", 1)
				file := filepath.Join(t.TempDir(), "commit")
				if err := os.WriteFile(file, []byte(raw+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				run(t, s, "update-ref", stateRef, run(t, s, "hash-object", "-t", "commit", "-w", file))
			},
			want: "no trusted key signed it",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			c := client(t, s, signing(p.key))
			original := push(t, c, plan(t, look(t, c), delivery(1))).Snapshot
			tc.forge(t, s)
			forged := run(t, s, "rev-parse", stateRef)
			for _, previous := range []*Snapshot{nil, original} {
				got, err := c.Look(t.Context(), previous)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got.StateForged()); diff != "" {
					t.Errorf("\n%s\nStateForged(): -want, +got:\n%s", tc.reason, diff)
				}
				if content, ok, err := got.StateFile(t.Context(), "claims/ns/web"); ok || err != nil {
					t.Errorf("\n%s\nStateFile(...): %q, %v, want nothing", tc.reason, content, err)
				}
			}
			repeated, err := c.Look(t.Context(), original)
			if err != nil {
				t.Fatal(err)
			}
			push(t, c, plan(t, repeated, delivery(2)))
			if diff := cmp.Diff("claims/ns/web", run(t, s, "ls-tree", "-r", "--name-only", stateRef)); diff != "" {
				t.Errorf("\n%s\nfiles of the state: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(forged, run(t, s, "rev-parse", stateRef+"^")); diff != "" {
				t.Errorf("\n%s\nparent of the state: -want, +got:\n%s", tc.reason, diff)
			}
			if err := verified(t, s, p, stateRef); err != nil {
				t.Errorf("\n%s\ngit verify-commit: %v", tc.reason, err)
			}
		})
	}
}

func TestSigningKeyThatCannotBeUsed(t *testing.T) {
	sealed := sealedPair(t).key
	sealed.Passphrase = "s3cret"
	cases := map[string]struct {
		reason string
		key    signature.Key
	}{
		"Passphrase": {reason: "A signing key with a wrong passphrase is an invalid configuration.", key: sealed},
		"Malformed":  {reason: "A malformed signing key is an invalid configuration.", key: signature.Key{Format: signature.FormatSSH, Private: "s3cret"}},
		"OpenPGP":    {reason: "A malformed signing key is an invalid configuration.", key: signature.Key{Format: signature.FormatOpenPGP, Private: "s3cret"}},
		"Format":     {reason: "A signing key of an unknown format is an invalid configuration.", key: signature.Key{Format: "s3cret", Private: "s3cret"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			_, err := client(t, s, signing(tc.key)).Look(t.Context(), nil)
			if diff := cmp.Diff(failure.ClassInvalid, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(...): -want, +got:\n%s", tc.reason, diff)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("\n%s\nLook(...): the error shows the key: %v", tc.reason, err)
			}
		})
	}
}

func authorizedKey(k ssh.Signer) string { return string(ssh.MarshalAuthorizedKey(k.PublicKey())) }
