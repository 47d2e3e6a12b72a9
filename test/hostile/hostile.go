// Package hostile has servers that do harm to their clients, as a tenant could name them.
package hostile

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

const (
	listHead = `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"KustomizationList","metadata":{"resourceVersion":"1"},"items":[`
	chunk    = 1 << 20
)

// A Cluster is an API server that does harm to its clients.
type Cluster struct {
	*httptest.Server
}

// New starts an API server that answers lists and watches so. Nil answers a list without objects, or a watch without events.
func New(list, watch http.HandlerFunc) *Cluster {
	return &Cluster{Server: httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		handler, otherwise := list, Empty
		if r.URL.Query().Get("watch") != "" {
			handler, otherwise = watch, Silent
		}
		if handler == nil {
			handler = otherwise
		}
		handler(w, r)
	}))}
}

// Stop ends the server and all its connections.
func (c *Cluster) Stop() {
	c.CloseClientConnections()
	c.Close()
}

// Kubeconfig leads to the server.
func (c *Cluster) Kubeconfig() ([]byte, error) {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	return json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "a",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": c.URL, "certificate-authority-data": base64.StdEncoding.EncodeToString(ca)}}},
		"contexts": []any{map[string]any{"name": "a", "context": map[string]any{"cluster": "c", "user": "u"}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": "hostile"}}},
	})
}

// Empty answers a list without objects.
func Empty(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, listHead+"]}") }

// Silent sends nothing until the client goes.
func Silent(w http.ResponseWriter, r *http.Request) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	<-r.Context().Done()
}

// EndlessList sends a list of large objects that never ends.
func EndlessList(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, listHead)
	repeatText(w, `{"metadata":{"name":"`+strings.Repeat("x", chunk)+`"}},`)
}

// EndlessZippedList sends a compressed list of empty objects that never ends.
func EndlessZippedList(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = io.WriteString(z, listHead)
	repeatText(z, strings.Repeat("{},", chunk/3))
}

// EndlessEvent sends an event that never ends.
func EndlessEvent(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"type":"ADDED","object":{"metadata":{"name":"`)
	repeatText(w, strings.Repeat("x", chunk))
}

// EndlessEvents sends changes of one object without end.
func EndlessEvents(w http.ResponseWriter, _ *http.Request) {
	repeatText(w, `{"type":"MODIFIED","object":{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":"x","namespace":"flux-system","resourceVersion":"2"}}}`)
}

// repeatText repeats a text until the reader goes.
func repeatText(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}
