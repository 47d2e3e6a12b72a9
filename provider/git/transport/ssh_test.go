package transport_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

// sshServer serves a repository over SSH to one key.
func sshServer(t *testing.T, o gitserver.SSHOptions, seed map[string]string) (*gitserver.Server, *gitserver.SSH, transport.SSH) {
	t.Helper()
	s := serve(t, seed)
	user, key, err := gitserver.NewSSHKey()
	if err != nil {
		t.Fatal(err)
	}
	o.Authorized = append(o.Authorized, user.PublicKey())
	x, err := s.SSH(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return s, x, transport.SSH{PrivateKey: transport.Secret(key)}
}

func throughSSH(x *gitserver.SSH, auth transport.Auth) func(*git.Remote) {
	return func(r *git.Remote) { r.URL, r.Auth, r.KnownHosts = x.URL(repo), auth, x.KnownHosts() }
}

func newKey(t *testing.T) ssh.Signer {
	t.Helper()
	k, _, err := gitserver.NewSSHKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestDeliveryOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, map[string]string{"README.md": "hello", "sites/b/other.yaml": "x"})
	c := client(t, s, throughSSH(x, key))
	snapshot := look(t, c)
	for n := range 3 {
		p := plan(t, snapshot, delivery(n))
		done := push(t, c, p)
		if !done.Atomic {
			t.Error("Push(...): it is not atomic over SSH")
		}
		if _, err := s.Commit(t.Context(), repo, gitserver.Branch, map[string]string{"foreign": fmt.Sprint(n)}, "Foreign"); err != nil {
			t.Fatal(err)
		}
		var err error
		if snapshot, err = c.Look(t.Context(), done.Snapshot); err != nil {
			t.Fatal(err)
		}
	}
	run(t, s, "fsck", "--strict")
	if diff := cmp.Diff("replicas: 2", run(t, s, "show", "main:sites/a/ns/web/deployment.yaml")); diff != "" {
		t.Errorf("delivered file: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("revision: 2", run(t, s, "show", stateRef+":claims/ns/web")); diff != "" {
		t.Errorf("state: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff("7", run(t, s, "rev-list", "--count", "main")); diff != "" {
		t.Errorf("commits: -want, +got:\n%s", diff)
	}
	content, ok, err := c.ReadFile(t.Context(), snapshot, "sites/b/other.yaml")
	if err != nil || !ok || string(content) != "x" {
		t.Errorf("ReadFile(...): %q, %t, %v", content, ok, err)
	}
	// A client without a snapshot asks for the branch and for the state.
	fresh := look(t, client(t, s, throughSSH(x, key)))
	if diff := cmp.Diff([]string{snapshot.Tip(), snapshot.StateTip()}, []string{fresh.Tip(), fresh.StateTip()}); diff != "" {
		t.Errorf("tips: -want, +got:\n%s", diff)
	}
	if got, ok, err := fresh.StateFile(t.Context(), "claims/ns/web"); err != nil || !ok || string(got) != "revision: 2\n" {
		t.Errorf("StateFile(...): %q, %t, %v", got, ok, err)
	}
	for _, command := range x.Commands() {
		if !strings.HasPrefix(command, "git-upload-pack '/") && !strings.HasPrefix(command, "git-receive-pack '/") {
			t.Errorf("the server was asked for %q", command)
		}
	}
}

func TestEmptyRepositoryOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, nil)
	c := client(t, s, throughSSH(x, key))
	snapshot := look(t, c)
	if !snapshot.Empty() {
		t.Fatal("Look(...): the repository is not empty")
	}
	push(t, c, plan(t, snapshot, delivery(1)))
	if diff := cmp.Diff("replicas: 1", run(t, s, "show", "main:sites/a/ns/web/deployment.yaml")); diff != "" {
		t.Errorf("delivered file: -want, +got:\n%s", diff)
	}
}

func TestLostRaceOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, map[string]string{"README.md": "hello"})
	c := client(t, s, throughSSH(x, key))
	p := plan(t, look(t, c), delivery(1))
	if _, err := s.Commit(t.Context(), repo, gitserver.Branch, map[string]string{"foreign": "x"}, "Foreign"); err != nil {
		t.Fatal(err)
	}
	_, err := c.Push(t.Context(), p)
	if diff := cmp.Diff(failure.ClassConflict, failure.ClassOf(err)); diff != "" {
		t.Errorf("Push(...): -want, +got:\n%s\n%v", diff, err)
	}
}

func TestRefusedPushOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, map[string]string{"README.md": "hello"})
	_, otherKey, err := gitserver.NewSSHKey()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		change func(*git.Remote)
		want   failure.Class
	}{
		"Key": {
			reason: "A key that the server does not know is refused as a credential.",
			change: throughSSH(x, transport.SSH{PrivateKey: transport.Secret(otherKey)}), want: failure.ClassAuth,
		},
		"Malformed": {
			reason: "A malformed private key is an invalid configuration.",
			change: throughSSH(x, transport.SSH{PrivateKey: "s3cret"}), want: failure.ClassInvalid,
		},
		"NoHostKey": {
			reason: "A server without a known host key is not contacted.",
			change: func(r *git.Remote) { throughSSH(x, key)(r); r.URL = "ssh://git@127.0.0.1:1/r" },
			want:   failure.ClassTrust,
		},
		"Repository": {reason: "A repository that does not exist is not found.", change: func(r *git.Remote) { throughSSH(x, key)(r); r.URL += "x" }, want: failure.ClassNotFound},
		"Quotes": {
			reason: "A path with quotes and spaces reaches the server as one word.",
			change: func(r *git.Remote) {
				throughSSH(x, key)(r)
				r.URL = strings.Replace(r.URL, "/team", "/';touch$IFS'x!/team", 1)
			},
			want: failure.ClassNotFound,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := client(t, s, tc.change).Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("\n%s\nLook(...): the error shows the key: %v", tc.reason, err)
			}
		})
	}
	if !slices.Contains(x.Commands(), `git-upload-pack '`+strings.Replace(s.Path(repo), "/team", `/'\'';touch$IFS'\''x'\!'/team`, 1)+"'") {
		t.Errorf("the path did not reach the server as one word: %q", x.Commands())
	}
}

func TestHostKeys(t *testing.T) {
	host, otherKey, authority, large := newKey(t), newKey(t), newKey(t), rsaKey(t)
	cert := &ssh.Certificate{Key: host.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"127.0.0.1"}, ValidBefore: ssh.CertTimeInfinity}
	if err := cert.SignCert(rand.Reader, authority); err != nil {
		t.Fatal(err)
	}
	certified, err := ssh.NewCertSigner(cert, host)
	if err != nil {
		t.Fatal(err)
	}
	line := func(marker string, host string, k ssh.Signer) string {
		return marker + knownhosts.Line([]string{host}, k.PublicKey()) + "\n"
	}
	cases := map[string]struct {
		reason string
		host   ssh.Signer
		lines  func(address string) string
		want   failure.Class
	}{
		"Known": {reason: "A server with a known host key is trusted.", host: host, lines: func(a string) string { return line("", a, host) }},
		"RSA":   {reason: "An RSA key is used with SHA-2.", host: large, lines: func(a string) string { return line("", a, large) }},
		"Hashed": {
			reason: "A host key with a hashed name is found.",
			host:   host, lines: func(a string) string { return line("", knownhosts.HashHostname(a), host) },
		},
		"Wildcard": {
			reason: "A host key with a pattern as its name is found.",
			host:   host, lines: func(string) string { return "127.0.0.* " + authorized(host) },
		},
		"CVE-2025-23390-Changed": {
			reason: "A server that shows another host key than the known one is not spoken to.",
			host:   host, lines: func(a string) string { return line("", a, otherKey) }, want: failure.ClassTrust,
		},
		"CVE-2025-23390-Unknown": {
			reason: "A server without a known host key is not spoken to.",
			host:   host, lines: func(string) string { return line("", "git.example.org", host) }, want: failure.ClassTrust,
		},
		"OtherPort": {
			reason: "A host key of another port is not trusted.",
			host:   host, lines: func(string) string { return line("", "[127.0.0.1]:1", host) }, want: failure.ClassTrust,
		},
		"Revoked": {
			reason: "A revoked host key is not trusted.",
			host:   host, lines: func(a string) string { return line("", a, host) + line("@revoked ", a, host) }, want: failure.ClassTrust,
		},
		"OtherKind": {
			reason: "A host key of another kind than the known one is not trusted.",
			host:   host, lines: func(a string) string { return a + " " + authorized(rsaKey(t)) }, want: failure.ClassTrust,
		},
		"Authority": {
			reason: "A host certificate of a known authority is trusted.",
			host:   certified, lines: func(a string) string { return line("@cert-authority ", a, authority) },
		},
		"WrongAuthory": {
			reason: "A host certificate of another authority is not trusted.",
			host:   certified, lines: func(a string) string { return line("@cert-authority ", a, otherKey) }, want: failure.ClassTrust,
		},
		"AuthorityOnly": {
			reason: "A plain host key is not trusted where an authority is known.",
			host:   host, lines: func(a string) string { return line("@cert-authority ", a, authority) }, want: failure.ClassTrust,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, x, key := sshServer(t, gitserver.SSHOptions{HostKey: tc.host}, map[string]string{"README.md": "hello"})
			c := client(t, s, throughSSH(x, key), func(r *git.Remote) { r.KnownHosts = []byte(tc.lines(x.Address())) })
			_, err := c.Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if tc.want != "" && len(x.Commands()) > 0 {
				t.Errorf("\n%s\nLook(...): it sent the server %q", tc.reason, x.Commands())
			}
		})
	}
}

func authorized(k ssh.Signer) string { return string(ssh.MarshalAuthorizedKey(k.PublicKey())) }

func rsaKey(t *testing.T) ssh.Signer {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestKeysOfSSH(t *testing.T) {
	seal := func(key any, passphrase string) string {
		var block *pem.Block
		var err error
		if block, err = ssh.MarshalPrivateKey(key, ""); passphrase != "" {
			block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(block))
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		auth   transport.SSH
		public any
		want   failure.Class
	}{
		"ECDSA": {reason: "A private key of kind ecdsa is accepted.", auth: transport.SSH{PrivateKey: transport.Secret(seal(ec, ""))}, public: ec.Public()},
		"RSA":   {reason: "An RSA key is used with SHA-2.", auth: transport.SSH{PrivateKey: transport.Secret(seal(large, ""))}, public: large.Public()},
		"Passphrase": {
			reason: "A private key with its passphrase is accepted.",
			auth:   transport.SSH{PrivateKey: transport.Secret(seal(ec, "open")), Passphrase: "open"}, public: ec.Public(),
		},
		"Large": {
			reason: "A private key has a limit, since its author chooses the time that it takes.",
			auth:   transport.SSH{PrivateKey: transport.Secret(seal(ec, "") + strings.Repeat(" ", 64<<10))}, public: ec.Public(), want: failure.ClassInvalid,
		},
		"NoPassphrase": {
			reason: "A private key whose passphrase is missing is refused.",
			auth:   transport.SSH{PrivateKey: transport.Secret(seal(ec, "open"))}, public: ec.Public(), want: failure.ClassInvalid,
		},
		"WrongPassphrase": {
			reason: "A private key with another passphrase is refused.",
			auth:   transport.SSH{PrivateKey: transport.Secret(seal(ec, "open")), Passphrase: "shut"}, public: ec.Public(), want: failure.ClassInvalid,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			public, err := ssh.NewPublicKey(tc.public)
			if err != nil {
				t.Fatal(err)
			}
			s, x, _ := sshServer(t, gitserver.SSHOptions{Authorized: []ssh.PublicKey{public}}, map[string]string{"README.md": "hello"})
			_, err = client(t, s, throughSSH(x, tc.auth)).Look(t.Context(), nil)
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nLook(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

func TestSilentSSHServer(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s, x, key := sshServer(t, gitserver.SSHOptions{}, nil)
	c := client(t, s, throughSSH(x, key), func(r *git.Remote) {
		r.URL = "ssh://git@" + l.Addr().String() + "/r"
		r.KnownHosts = []byte(strings.ReplaceAll(string(x.KnownHosts()), x.Address(), knownhosts.Normalize(l.Addr().String())))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := c.Look(ctx, nil); failure.ClassOf(err) != failure.ClassTransient || ctx.Err() == nil || time.Since(began) >= 15*time.Second {
		t.Errorf("Look(...): %v after %s, want an error that ends with the context", err, time.Since(began))
	}
}

func TestStallOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, map[string]string{"README.md": "hello"})
	c := limited(t, client(t, s, throughSSH(x, key)).Remote(), transport.Limits{Wait: 200 * time.Millisecond})
	x.Silence()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Second)
	defer cancel()
	_, err := c.Look(ctx, nil)
	if diff := cmp.Diff(failure.ClassTransient, failure.ClassOf(err)); diff != "" {
		t.Errorf("Look(...) at a server that says nothing: -want, +got:\n%s\n%v", diff, err)
	}
	if ctx.Err() != nil {
		t.Error("Look(...): it ended with the context only")
	}
}

func TestTooMuchOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, map[string]string{"README.md": "hello"})
	c := limited(t, client(t, s, throughSSH(x, key)).Remote(), transport.Limits{Bytes: 64})
	_, err := c.Look(t.Context(), nil)
	if diff := cmp.Diff(failure.ClassTooLarge, failure.ClassOf(err)); diff != "" {
		t.Errorf("Look(...): -want, +got:\n%s\n%v", diff, err)
	}
}

// limited returns a client of a remote whose server may send less.
func limited(t *testing.T, r git.Remote, l transport.Limits) *git.Client {
	t.Helper()
	c, err := git.NewClient(r, budget.New(), git.WithLimits(l))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestManyRefsOverSSH(t *testing.T) {
	s, x, key := sshServer(t, gitserver.SSHOptions{}, map[string]string{"README.md": "hello"})
	tip := run(t, s, "rev-parse", gitserver.Branch)
	packed := strings.Builder{}
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for n := range 100_000 {
		fmt.Fprintf(&packed, "%s refs/heads/%s%07d\n", tip, strings.Repeat("b", 60), n)
	}
	if err := os.WriteFile(filepath.Join(s.Path(repo), "packed-refs"), []byte(packed.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client(t, s, throughSSH(x, key)).Look(t.Context(), nil); failure.ClassOf(err) != failure.ClassTooLarge {
		t.Errorf("\nA server whose refs take more than 8 MiB is too large over SSH.\nLook(...): %v", err)
	}
}
