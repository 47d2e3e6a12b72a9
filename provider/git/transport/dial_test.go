package transport_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/crypto/ssh/knownhosts"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/test/gitserver"
)

// Messages to a tenant about addresses that it may not reach, and about private addresses.
const (
	messageAddressRefused    = "cannot read the repository: " + "its URL, its proxy or the base URL of its GitHub App leads to an address that a ProviderConfig may not reach"
	messagePrivateUnreadable = "cannot read the repository: " + "its URL, its proxy or the base URL of its GitHub App names a host that is not known, " +
		"or leads to a private address where no Git server could be read (the provider's log has the cause)"
)

// A nameServer resolves every name to the same addresses. Without addresses no name exists.
type nameServer struct {
	mu        sync.Mutex
	addresses []string
}

func (s *nameServer) set(addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses = addresses
}

// resolver that asks the server.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go s.serve(ours)
		return theirs, nil
	}}
}

// serve one question, in the form that DNS has over TCP.
func (s *nameServer) serve(conn net.Conn) {
	defer conn.Close()
	size := make([]byte, 2)
	if _, err := io.ReadFull(conn, size); err != nil {
		return
	}
	question := make([]byte, binary.BigEndian.Uint16(size))
	if _, err := io.ReadFull(conn, question); err != nil {
		return
	}
	answer, err := s.answer(question)
	if err != nil {
		return
	}
	_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
}

func (s *nameServer) answer(question []byte) ([]byte, error) {
	m := dnsmessage.Message{}
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.addresses) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range s.addresses {
		if m.Questions[0].Type == dnsmessage.TypeA {
			header := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()}})
		}
	}
	return m.Pack()
}

// listener counts the connections, reads their first bytes, and answers nothing.
func listener(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	count := &atomic.Int32{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			go func() { // The sent bytes are read: a connection that is closed before that is reset.
				_, _ = conn.Read(make([]byte, 4096))
				_ = conn.Close()
			}()
		}
	}()
	return l.Addr().String(), count
}

func TestGuardRefusesNearAddresses(t *testing.T) {
	opened, count := listener(t)
	closedListener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := closedListener.Addr().String()
	_ = closedListener.Close()
	tls := serve(t, nil, gitserver.WithTLS())
	_, x, key := sshServer(t, gitserver.SSHOptions{}, nil)
	chain, private := newAuthority(t).issue(t, time.Now().Add(time.Hour))
	cases := map[string]struct {
		reason string
		change func(r *git.Remote, addr string)
	}{
		"CVE-2026-44936-HTTP": {reason: "The URL may not lead to a near address.", change: func(r *git.Remote, addr string) { r.URL = "http://" + addr + "/x.git" }},
		"CVE-2026-44936-HTTPS": {
			reason: "TLS does not widen the reachable addresses.",
			change: func(r *git.Remote, addr string) { r.URL = "https://" + addr + "/x.git" },
		},
		"CVE-2026-44936-Name": {
			reason: "A name counts as its resolved address.",
			change: func(r *git.Remote, addr string) { r.URL = "http://git.example.org:" + portOf(addr) + "/x.git" },
		},
		"CVE-2026-44936-Proxy": {reason: "The proxy may not be at a near address.", change: func(r *git.Remote, addr string) {
			r.URL, r.Proxy = "http://192.0.2.1/x.git", &transport.Proxy{URL: "http://" + addr}
		}},
		"ProxyTLS": {reason: "A proxy that is reached by TLS with a client certificate has a dialer of its own, which is guarded too.", change: func(r *git.Remote, addr string) {
			r.URL, r.Proxy = "https://192.0.2.1/x.git", &transport.Proxy{URL: "https://" + addr}
			r.Certificate = &transport.Certificate{Chain: chain, Key: transport.Secret(private)}
		}},
		"SSH": {reason: "SSH may not lead to a near address.", change: func(r *git.Remote, addr string) {
			r.URL, r.Auth = "ssh://git@"+addr+"/x.git", key
			r.KnownHosts = []byte(strings.ReplaceAll(string(x.KnownHosts()), x.Address(), "["+strings.Replace(addr, ":", "]:", 1)))
		}},
		"GitHubApp": {reason: "The API of a GitHub App may not be at a near address.", change: func(r *git.Remote, addr string) {
			a := newForge(t, nil).auth()
			a.BaseURL = "https://" + addr + "/api/v3"
			r.URL, r.Auth, r.CABundle = "https://192.0.2.1/x.git", a, tls.CA()
		}},
	}
	names := &nameServer{}
	names.set("127.0.0.1", "169.254.169.254")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, addr := range []string{opened, closed} {
				r := git.Remote{Branch: "main", StateRef: stateRef, Guard: &address.Guard{}}
				tc.change(&r, addr)
				c, err := git.NewClient(r, budget.New(), git.WithResolver(names.resolver()))
				if err != nil {
					t.Fatal(err)
				}
				_, err = c.Look(t.Context(), nil)
				if diff := cmp.Diff(&failure.Error{Class: failure.ClassAddress, Detail: messageAddressRefused}, err, cmp.AllowUnexported(failure.Error{})); diff != "" {
					t.Errorf("%s\nLook(...): -want, +got:\n%s", tc.reason, diff)
				}
				c.Close()
			}
		})
	}
	if diff := cmp.Diff(int32(0), count.Load()); diff != "" {
		t.Errorf("No connection is made to an address that is refused.\nconnections: -want, +got:\n%s", diff)
	}
}

func portOf(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }

func TestGuardIsAskedForEachConnection(t *testing.T) {
	s := serve(t, map[string]string{"a": "b"})
	names := &nameServer{}
	names.set("127.0.0.1")
	url := strings.Replace(s.URL(repo), "127.0.0.1", "git.example.org", 1)
	r := git.Remote{URL: url, Branch: gitserver.Branch, StateRef: stateRef, Guard: &address.Guard{Loopback: true}}
	c, err := git.NewClient(r, budget.New(), git.WithResolver(names.resolver()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Look(t.Context(), nil); err != nil {
		t.Fatalf("An address that the guard allows is reached.\nLook(...): %v", err)
	}
	names.set("169.254.169.254")
	c.Close() // The connection that was allowed is gone.
	_, err = c.Look(t.Context(), nil)
	if diff := cmp.Diff(failure.ClassAddress, failure.ClassOf(err)); diff != "" {
		t.Errorf("A name that is resolved to another address the second time is refused.\nLook(...): -want, +got:\n%s\n%v", diff, err)
	}
}

func TestRedirectToNearAddressIsNotFollowed(t *testing.T) {
	near, count := listener(t)
	c := clientOfHandler(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+near+r.URL.String(), http.StatusFound)
	})
	_, err := c.Look(t.Context(), nil)
	if diff := cmp.Diff(failure.ClassTrust, failure.ClassOf(err)); diff != "" || count.Load() != 0 {
		t.Errorf("A redirect to a near address is not followed.\nLook(...): -want, +got:\n%s\n%d connections", diff, count.Load())
	}
}

func TestUnguardedReachesNearAddresses(t *testing.T) {
	s := serve(t, map[string]string{"a": "b"})
	look(t, client(t, s))
	_, err := client(t, s, func(r *git.Remote) {
		r.Guard = &address.Guard{Loopback: true, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	}).Look(t.Context(), nil)
	if diff := cmp.Diff(failure.ClassAddress, failure.ClassOf(err)); diff != "" {
		t.Errorf("A network that the administrator refuses is not reached.\nLook(...): -want, +got:\n%s", diff)
	}
}

// answering returns the address of an HTTP server that answers each request with a status.
func answering(t *testing.T, status int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hello", status) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestPrivateAddressesAreConcealed reads from a server that is not a Git server, or does not answer, at a private address. Loopback stands for such an address.
func TestPrivateAddressesAreConcealed(t *testing.T) {
	opened, _ := listener(t)
	closedListener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := closedListener.Addr().String()
	_ = closedListener.Close()
	_, x, key := sshServer(t, gitserver.SSHOptions{}, nil)
	otherKey := newKey(t)
	names := &nameServer{}
	cases := map[string]struct {
		reason string
		change func(r *git.Remote)
		cause  string
	}{
		"Closed": {
			reason: "A port that is closed is not revealed.",
			change: func(r *git.Remote) { r.URL = "http://" + closed + "/x.git" }, cause: "connection refused",
		},
		"Open": {
			reason: "A port that is open and answers nothing is not revealed.",
			change: func(r *git.Remote) { r.URL = "http://" + opened + "/x.git" }, cause: "the connection ended early",
		},
		"NoTLS": {
			reason: "A server without TLS is not revealed.",
			change: func(r *git.Remote) { r.URL = "https://" + answering(t, 200) + "/x.git" }, cause: "it does not speak TLS on this port",
		},
		"Missing": {
			reason: "A server of HTTP that has no such page is not revealed.",
			change: func(r *git.Remote) { r.URL = "http://" + answering(t, 404) + "/x.git" }, cause: "it does not exist",
		},
		"Unauthorized": {
			reason: "A server of HTTP that wants credentials is not revealed.",
			change: func(r *git.Remote) { r.URL = "http://" + answering(t, 401) + "/x.git" }, cause: "the credentials were not accepted",
		},
		"NoGit": {
			reason: "An HTTP server that is not a Git server is not revealed.",
			change: func(r *git.Remote) { r.URL = "http://" + answering(t, 200) + "/x.git" }, cause: "the response is not from a Git server",
		},
		"Proxy": {reason: "A proxy that is not there is not revealed.", cause: "connection refused", change: func(r *git.Remote) {
			r.URL, r.Proxy = "http://192.0.2.1/x.git", &transport.Proxy{URL: "http://" + closed}
		}},
		"SSH": {reason: "A server of SSH with another host key is not revealed.", cause: "host key", change: func(r *git.Remote) {
			r.URL, r.Auth, r.KnownHosts = "ssh://git@"+strings.NewReplacer("[", "", "]", "").Replace(x.Address())+"/x.git", key, []byte(knownhosts.Line([]string{x.Address()}, otherKey.PublicKey()))
		}},
		"UnknownName": {
			reason: "A name that does not exist is not revealed.",
			change: func(r *git.Remote) { r.URL = "http://git.example.org/x.git" }, cause: "its host name is not known",
		},
	}
	want := &failure.Error{Class: failure.ClassTransient, Detail: messagePrivateUnreadable}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, reported := range [][]netip.Prefix{nil, {netip.MustParsePrefix("127.0.0.0/8")}} {
				r := git.Remote{Branch: "main", StateRef: stateRef, Guard: &address.Guard{Loopback: true, Reported: reported}}
				tc.change(&r)
				c, err := git.NewClient(r, budget.New(), git.WithResolver(names.resolver()))
				if err != nil {
					t.Fatal(err)
				}
				_, err = c.Look(t.Context(), nil)
				c.Close()
				if reported != nil && name != "UnknownName" {
					if !strings.Contains(fmt.Sprint(err), tc.cause) || failure.CauseOf(err) != "" {
						t.Errorf("%s\nA network that is reported is not concealed.\nLook(...): want %q, got %v", tc.reason, tc.cause, err)
					}
					continue
				}
				if diff := cmp.Diff(want, err, cmp.AllowUnexported(failure.Error{}), cmpopts.IgnoreFields(failure.Error{}, "Cause")); diff != "" {
					t.Errorf("%s\nLook(...): -want, +got:\n%s", tc.reason, diff)
				}
				if !strings.Contains(failure.CauseOf(err), tc.cause) {
					t.Errorf("%s\nCauseOf(...): want %q, got %q", tc.reason, tc.cause, failure.CauseOf(err))
				}
			}
		})
	}
}

// TestProvenAddressIsNotConcealed checks that the error reveals the cause of a failure at a private address once a Git server has answered there, and only for
// that address: the owner of a name may let it lead to another address later.
func TestProvenAddressIsNotConcealed(t *testing.T) {
	s := serve(t, map[string]string{"a": "b"})
	names := &nameServer{}
	names.set("127.0.0.1")
	r := git.Remote{
		URL: strings.Replace(s.URL(repo), "127.0.0.1", "git.example.org", 1), Branch: gitserver.Branch, StateRef: stateRef, Guard: &address.Guard{Loopback: true},
	}
	c, err := git.NewClient(r, budget.New(), git.WithResolver(names.resolver()))
	if err != nil {
		t.Fatal(err)
	}
	look(t, c)
	s.Close()
	steps := []struct {
		reason    string
		addresses []string
		cause     string
		concealed bool
	}{
		{reason: "The cause at an address that answered as a Git server does is no secret.", addresses: []string{"127.0.0.1"}, cause: "connection refused"},
		{reason: "The cause at another private address of the name is concealed.", addresses: []string{"127.0.0.2"}, cause: "connection refused", concealed: true},
		{
			reason:    "The cause is concealed if one of the addresses did not prove itself.",
			addresses: []string{"127.0.0.1", "127.0.0.2"}, cause: "connection refused", concealed: true,
		},
		{reason: "A name that does not exist any more is concealed.", cause: "its host name is not known", concealed: true},
		{reason: "An address that proved itself stays known.", addresses: []string{"127.0.0.1"}, cause: "connection refused"},
	}
	for _, step := range steps {
		c.Close()
		names.set(step.addresses...)
		_, err := c.Look(t.Context(), nil)
		message := failure.CauseOf(err)
		if !step.concealed {
			message = fmt.Sprint(err)
		}
		if !strings.Contains(message, step.cause) || (failure.CauseOf(err) != "") != step.concealed {
			t.Errorf("%s\nLook(...): want concealed: %t, cause %q, got %v, cause %q", step.reason, step.concealed, step.cause, err, failure.CauseOf(err))
		}
	}
}

// TestIdleConnectionIsConcealed asks a server that is not a Git server twice: the second time there is no new connection whose address could be looked at.
func TestIdleConnectionIsConcealed(t *testing.T) {
	connections := atomic.Int32{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c, err := git.NewClient(git.Remote{URL: s.URL + "/x.git", Branch: "main", StateRef: stateRef, Guard: &address.Guard{Loopback: true}}, budget.New())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Look(t.Context(), nil); err == nil || !strings.Contains(failure.CauseOf(err), "it does not exist") {
			t.Errorf("The answer of a private address is concealed on a connection that is used again too.\nLook(...): want a concealed cause, got %v", err)
		}
	}
	if diff := cmp.Diff(int32(1), connections.Load()); diff != "" {
		t.Errorf("The connection was used again.\nconnections: -want, +got:\n%s", diff)
	}
}
