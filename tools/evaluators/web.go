package evaluators

import (
	"io"
	"net/http"
	"strings"
)

// A WebAnswer is an answer of a web server.
type WebAnswer struct {
	Status      int
	ContentType string
	Body        string
}

// A WebServer gives one answer to each request.
type WebServer struct {
	Answer WebAnswer
}

// RoundTrip answers a request.
func (s WebServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: s.Answer.Status, Request: r, Header: http.Header{"Content-Type": {s.Answer.ContentType}}, Body: io.NopCloser(strings.NewReader(s.Answer.Body)),
	}, nil
}
