package hooks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// A target has Applications with a webhook, and none of the name other.
type target struct {
	err error
	// recordErr is why nothing can be recorded.
	recordErr error
	// begun is closed when a record begins, which then waits for the end of ended. Nil records at once.
	begun chan struct{}
	ended <-chan struct{}
	looks []string

	mu    sync.Mutex
	reads int
}

// TokenOf returns the token of an Application.
func (r *target) TokenOf(_ context.Context, application types.NamespacedName) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	if application.Name == "other" {
		return nil, r.err
	}
	return []byte(token), r.err
}

// Record notes the Application.
func (r *target) Record(_ context.Context, application types.NamespacedName) error {
	if r.begun != nil {
		close(r.begun)
		<-r.ended
	}
	r.looks = append(r.looks, application.String())
	return r.recordErr
}

// Flush notes that it was called.
func (r *target) Flush(context.Context) { r.looks = append(r.looks, "flush") }

// post has a server receive a hook of an Application of team-a, signed with a key.
func post(t *testing.T, h http.Handler, application, key string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/team-a/"+application, strings.NewReader(body))
	req.Header.Set(headerGitHub, "sha256="+hexOf(key, body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// zeros is a body of zeros that notes how much of it was read.
type zeros struct{ left, read int }

// Read returns zeros.
func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	clear(p[:n])
	z.left, z.read = z.left-n, z.read+n
	return n, nil
}

// newServer returns a server that adds its results to counts. It answers several hooks at once.
func newServer(r *target, counts *[]string) *Server {
	mu := sync.Mutex{}
	count := func(result string) {
		mu.Lock()
		defer mu.Unlock()
		*counts = append(*counts, result)
	}
	return &Server{Receiver: r, Count: count, Log: logging.NewNopLogger(), Now: clock}
}

func TestHandler(t *testing.T) {
	signed := header(headerGitHub, "sha256="+hexOf(token, body))
	const hundredMB = 100 << 20
	cases := map[string]struct {
		reason       string
		method, path string
		header       http.Header
		err          error
		recordErr    error
		body         io.Reader
		length       int64
		want         int
		result       string
		looks        int
		reads        int
	}{
		"Signed": {
			reason: "A signed hook looks at the repository.",
			header: signed, body: strings.NewReader(body), want: 202, result: "Accepted", looks: 1, reads: 1,
		},
		"Unsigned": {reason: "An unsigned hook is refused, and nothing is read for it.", body: strings.NewReader(body), want: 404, result: "Refused"},
		"CVE-2026-40109 Forged": {
			reason: "A signature with another token is refused.",
			header: header(headerGitea, hexOf("x", body)), body: strings.NewReader(body), want: 404, result: "Refused", reads: 1,
		},
		"Unknown": {
			reason: "An Application that does not exist is refused in the same way.",
			path:   "/hooks/team-a/other", header: signed, body: strings.NewReader(body), want: 404, result: "Refused", reads: 1,
		},
		"Get":  {reason: "Only POST is answered.", method: http.MethodGet, header: signed, want: 405},
		"Path": {reason: "Another path is not found.", path: "/hooks/team-a", header: signed, want: 404},
		"Long": {
			reason: "A hook that says that it has 100 MB is refused unread.",
			header: signed, body: &zeros{left: hundredMB}, length: hundredMB, want: 413, result: "TooLarge",
		},
		"CVE-2024-40634 Chunked": {
			reason: "A hook of 100 MB is read up to the bound.",
			header: signed, body: &zeros{left: hundredMB}, length: -1, want: 413, result: "TooLarge", reads: 1,
		},
		"ByToken": {
			reason: "The body of a hook with a token is not read.",
			header: header(headerGitLabToken, token), body: &zeros{left: hundredMB}, length: -1, want: 202, result: "Accepted", looks: 1, reads: 1,
		},
		"CVE-2025-59531 Body": {
			reason: "A signed body that is not JSON is not read.",
			header: header(headerGitea, hexOf(token, "\xff{[")), body: strings.NewReader("\xff{["), want: 202, result: "Accepted", looks: 1, reads: 1,
		},
		"CVE-2025-59537 Empty": {
			reason: "A signed body may be empty.",
			header: header(headerGitea, hexOf(token, "")), body: strings.NewReader(""), want: 202, result: "Accepted", looks: 1, reads: 1,
		},
		"CVE-2025-59538 Null": {
			reason: "A signed body may be null.",
			header: header(headerGitea, hexOf(token, "null")), body: strings.NewReader("null"), want: 202, result: "Accepted", looks: 1, reads: 1,
		},
		"Unrecorded": {
			reason: "A hook that cannot be recorded now gets an answer to retry.",
			header: signed, recordErr: errors.New("down"), body: strings.NewReader(body), want: 503, result: "Unread", looks: 1, reads: 1,
		},
		"APIServer": {
			reason: "A hook that cannot be verified now gets an answer to retry.",
			header: signed, err: errors.New("down"), body: strings.NewReader(body), want: 503, result: "Unread", reads: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, counts := &target{err: tc.err, recordErr: tc.recordErr}, []string{}
			method, path := tc.method, tc.path
			if method == "" {
				method = http.MethodPost
			}
			if path == "" {
				path = "/hooks/team-a/shop"
			}
			req := httptest.NewRequestWithContext(t.Context(), method, path, tc.body)
			req.Header = tc.header
			if tc.length != 0 {
				req.ContentLength = tc.length
			}
			w := httptest.NewRecorder()
			newServer(r, &counts).Handler().ServeHTTP(w, req)
			if got := strings.Join(counts, " "); w.Code != tc.want || got != tc.result || len(r.looks) != tc.looks || r.reads != tc.reads {
				t.Errorf("\n%s\nstatus %d, result %q, %d looks, %d reads of the token", tc.reason, w.Code, got, len(r.looks), r.reads)
			}
			if z, ok := tc.body.(*zeros); ok && z.read > MaxBody+64<<10 {
				t.Errorf("\n%s\n%d bytes were read", tc.reason, z.read)
			}
		})
	}
}

// TestReplay has a hook that is sent a thousand times: it is verified as often as the rate lets it.
func TestReplay(t *testing.T) {
	r, counts := &target{}, []string{}
	h := newServer(r, &counts).Handler()
	codes := map[int]int{}
	for range 1000 {
		codes[post(t, h, "shop", token).Code]++
	}
	if diff := cmp.Diff(map[int]int{202: hookBurst, 429: 1000 - hookBurst}, codes); diff != "" || r.reads != hookBurst {
		t.Errorf("%d reads, status: -want, +got:\n%s", r.reads, diff)
	}
}

// TestManyApplications has a namespace whose 500 Applications get a hook at once, after as many that another key signed.
func TestManyApplications(t *testing.T) {
	r, counts := &target{}, []string{}
	h := newServer(r, &counts).Handler()
	answers := map[string]int{}
	for _, key := range []string{"another key", token} {
		for i := range 500 {
			w := post(t, h, fmt.Sprintf("shop-%d", i), key)
			answers[strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Header().Get("Retry-After")))]++
		}
	}
	want := map[string]int{"404": 500, "202": namespaceBurst, "429 1": 500 - namespaceBurst}
	if diff := cmp.Diff(want, answers); diff != "" || len(r.looks) != namespaceBurst {
		t.Errorf("The hooks of one namespace have a limit, and its sender learns when to try again.\n%d records, status and Retry-After: -want, +got:\n%s", len(r.looks), diff)
	}
}

// TestStop has a hook that is being recorded when the provider ends.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, counts := &target{begun: make(chan struct{}), ended: ctx.Done()}, []string{}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, status := make(chan error, 1), make(chan int, 1)
	go func() { ended <- newServer(r, &counts).serveUntilEnded(ctx, l) }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/hooks/team-a/shop", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header(headerGitLabToken, token)
	go func() { status <- statusOf(req) }()
	<-r.begun
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("A server that is stopped ends without an error: %v", err)
	}
	if diff := cmp.Diff([]string{"team-a/shop", "flush"}, r.looks); diff != "" {
		t.Errorf("A server ends once its last hook is recorded and all records are written: -want, +got:\n%s", diff)
	}
	if got := <-status; got != http.StatusAccepted {
		t.Errorf("A hook that is being received is answered with %d", got)
	}
}

// statusOf returns the status of the answer to a request, or 0 without one.
func statusOf(req *http.Request) int {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestNeedLeaderElection has a replica that is not the leader: a Service leads hooks to it too.
func TestNeedLeaderElection(t *testing.T) {
	var runnable any = newServer(&target{}, &[]string{})
	elected, ok := runnable.(interface{ NeedLeaderElection() bool })
	if !ok || elected.NeedLeaderElection() {
		t.Errorf("Each replica receives hooks.\nNeedLeaderElection(): the manager starts the Server on the leader alone")
	}
}

// TestStart listens, and ends with its context.
func TestStart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	counts := []string{}
	s := newServer(&target{}, &counts)
	s.Address = "127.0.0.1:0"
	ended := make(chan error)
	go func() { ended <- s.Start(ctx) }()
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("A server that is stopped ends without an error: %v", err)
	}
	s.Address = "127.0.0.1:no"
	if err := s.Start(t.Context()); err == nil {
		t.Error("An address that cannot be listened at is an error")
	}
}

// TestExistenceIsConcealed sends hooks of an Application, and of an Application that does not exist, in each way that shows the fields
// that the server reads.
func TestExistenceIsConcealed(t *testing.T) {
	cases := map[string]struct {
		reason string
		header http.Header
		body   string
		want   string
	}{
		"Expect": {
			reason: "Both servers ask for the body of a request that expects 100 Continue.",
			header: header(headerGitHub, "sha256="+hexOf("x", body)), body: body, want: "HTTP/1.1 100 Continue",
		},
		"Chunked": {
			reason: "Both bodies are read up to the bound.",
			header: header(headerGitHub, "sha256="+hexOf("x", body)), want: "HTTP/1.1 413 Request Entity Too Large",
		},
		"Standard": {
			reason: "Both bodies of a request with a signature of the Standard Webhooks specification are asked for.",
			header: http.Header{headerSignature: {"v1,eA=="}, headerTimestamp: {strconv.FormatInt(clock().Unix(), 10)}}, body: body, want: "HTTP/1.1 100 Continue",
		},
		"Token": {
			reason: "No body is asked for where the token is in the header.",
			header: header(headerGitLabToken, "x"), body: body, want: "HTTP/1.1 404 Not Found",
		},
	}
	counts := []string{}
	s := httptest.NewServer(newServer(&target{}, &counts).Handler())
	t.Cleanup(s.Close)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, application := range []string{"shop", "other"} {
				if diff := cmp.Diff(tc.want, firstLine(t, s.Listener.Addr().String(), application, tc.header, tc.body)); diff != "" {
					t.Errorf("%s\nanswer for %s: -want, +got:\n%s", tc.reason, application, diff)
				}
			}
		})
	}
}

// firstLine sends a hook, and returns the first line of the answer. A hook with a body waits until the server asks for it. An empty body has no end.
func firstLine(t *testing.T, address, application string, h http.Header, body string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := &strings.Builder{}
	fmt.Fprintf(head, "POST /hooks/team-a/%s HTTP/1.1\r\nHost: x\r\n", application)
	if body == "" {
		head.WriteString("Transfer-Encoding: chunked\r\n")
	} else {
		fmt.Fprintf(head, "Expect: 100-continue\r\nContent-Length: %d\r\n", len(body))
	}
	_ = h.Write(head)
	if _, err := io.WriteString(conn, head.String()+"\r\n"); err != nil {
		t.Fatal(err)
	}
	if body == "" {
		go func() {
			chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat("x", 1<<20))
			for {
				if _, err := io.WriteString(conn, chunk); err != nil {
					return
				}
			}
		}()
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// TestSlowHooks has as many connections of one network send nothing as it has places, as behind a proxy. A hook of the same network is received all the same.
func TestSlowHooks(t *testing.T) {
	var mu sync.Mutex
	now, counts := clock(), []string{}
	r := &target{}
	server := newServer(r, &counts)
	server.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	server.Count = func(string) {}
	handler := server.Handler()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	for n := range maxOfNetwork {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = fmt.Fprintf(conn, "POST /hooks/hostile/a%d HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n%s: %s\r\n\r\n", n, headerGitea, hexOf("x", body))
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
			t.Fatalf("The hook has a place: %q, %v", line, err)
		}
	}
	status := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/hooks/team-a/shop", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(headerGitHub, "sha256="+hexOf(token, body))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	first := status()
	mu.Lock()
	now = now.Add(slowRead)
	mu.Unlock()
	if diff := cmp.Diff([]int{http.StatusTooManyRequests, http.StatusAccepted}, []int{first, status()}); diff != "" {
		t.Errorf("A hook that comes slowly gives its place to the next one.\nstatus at once, and after %s: -want, +got:\n%s", slowRead, diff)
	}
}
