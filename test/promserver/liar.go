package promserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Lie is a Liar's answer instead of the truth.
type Lie string

// Lies.
const (
	// LieNone is the truth.
	LieNone Lie = ""
	// LieSilence does not answer at all.
	LieSilence Lie = "Silence"
	// LieHTML is a page for people, with status 200.
	LieHTML Lie = "HTML"
	// LieGarbage is half an answer.
	LieGarbage Lie = "Garbage"
	// LieNaN is an answer that is not a number.
	LieNaN Lie = "NaN"
	// LieEmpty is an answer without data.
	LieEmpty Lie = "Empty"
	// LieReplay is the first true answer, again and again.
	LieReplay Lie = "Replay"
)

// A Liar stands before a server, and gives the answers that a test sets. It is safe for concurrent use.
type Liar struct {
	server *httptest.Server
	truth  http.Handler

	mu    sync.Mutex
	lie   Lie
	told  int
	first []byte
}

// NewLiar returns a Liar that stands before a server. It returns an error if the address of the server is none.
func NewLiar(server string, lie Lie) (*Liar, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse address")
	}
	l := &Liar{truth: httputil.NewSingleHostReverseProxy(u), lie: lie}
	l.server = httptest.NewServer(http.HandlerFunc(l.serveAnswer))
	return l, nil
}

// URL of the liar.
func (l *Liar) URL() string { return l.server.URL }

// SetLie sets another lie, or the truth.
func (l *Liar) SetLie(lie Lie) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lie = lie
}

// CountLies is how many answers were lies.
func (l *Liar) CountLies() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told
}

// Close the liar.
func (l *Liar) Close() {
	l.server.CloseClientConnections()
	l.server.Close()
}

func (l *Liar) serveAnswer(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	lie := l.lie
	if lie != LieNone {
		l.told++
	}
	l.mu.Unlock()
	switch lie {
	case LieNone:
		l.truth.ServeHTTP(w, r)
	case LieSilence:
		_, _ = io.Copy(io.Discard, r.Body) // Only then the server notices that the client goes.
		<-r.Context().Done()
	case LieReplay:
		l.replayFirst(w, r)
	case LieHTML, LieGarbage, LieNaN, LieEmpty:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, lie.responseText(time.Now()))
	}
}

// responseText returns the text of a lie that is of a time.
func (l Lie) responseText(now time.Time) string {
	switch l {
	case LieHTML:
		return "<html><body>Sign in</body></html>"
	case LieGarbage:
		return `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"val`
	case LieNaN:
		return fmt.Sprintf(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[%d,"NaN"]}]}}`, now.Unix())
	case LieEmpty:
		return `{"status":"success","data":{"resultType":"vector","result":[]}}`
	case LieNone, LieSilence, LieReplay:
	}
	return ""
}

func (l *Liar) replayFirst(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		recorder := httptest.NewRecorder()
		recorder.Body = &bytes.Buffer{}
		r.Header.Del("Accept-Encoding")
		l.truth.ServeHTTP(recorder, r)
		l.first = recorder.Body.Bytes()
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(l.first)
}
