package live

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

const (
	// benchDeployments is how many deployments there are of each shape, and benchPage how many of them a page has.
	benchDeployments = 500
	benchPage        = 250

	// benchManagedBytes is the size of the managed fields of one deployment.
	benchManagedBytes = 4000
)

// A pageServer answers lists of deployments page by page, and compresses them for clients that accept it, as an API server does.
type pageServer struct {
	// pages of each group, encoded.
	pages map[string][][]byte
}

// newPageServer returns a server of deployments in both shapes, whose claims have composites.
func newPageServer(b *testing.B) *pageServer {
	b.Helper()
	out := &pageServer{pages: map[string][][]byte{}}
	for _, group := range []string{"claims.intentplane.dev", "intentplane.dev"} {
		for first := 0; first < benchDeployments; first += benchPage {
			out.pages[group] = append(out.pages[group], encodePage(b, group, first))
		}
	}
	return out
}

// encodePage encodes a page, which begins with the deployment of this number.
func encodePage(b *testing.B, group string, first int) []byte {
	b.Helper()
	token := ""
	if first+benchPage < benchDeployments {
		token = fmt.Sprint(first + benchPage)
	}
	var items []json.RawMessage
	for i := range benchPage {
		items = append(items, encodeDeployment(b, group, fmt.Sprintf("shop-%d", first+i)))
	}
	text, err := json.Marshal(map[string]any{"apiVersion": group + "/v1alpha1", "kind": "IntentDeploymentList", "metadata": map[string]any{"continue": token}, "items": items})
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func encodeDeployment(b *testing.B, group, name string) []byte {
	b.Helper()
	s := samples.RollingBack()
	s.Group = group
	all, err := s.Objects()
	if err != nil {
		b.Fatal(err)
	}
	o := all[0].Object
	o["metadata"].(map[string]any)["name"] = name
	o["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{
		"apiVersion": group + "/v1alpha1", "fieldsType": "FieldsV1", "manager": "crossplane", "operation": "Apply", "time": "2031-05-06T14:03:00Z",
		"fieldsV1": map[string]any{"f:status": strings.Repeat("x", benchManagedBytes)},
	}}
	if group == "claims.intentplane.dev" {
		o["spec"].(map[string]any)["resourceRef"] = map[string]any{"apiVersion": group + "/v1alpha1", "kind": "XIntentDeployment", "name": name + "-x7k2p"}
	}
	text, err := json.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func (s *pageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(r.URL.Path, "/")
	pages := s.pages[path[2]]
	if path[len(path)-1] != "intentdeployments" {
		http.NotFound(w, r)
		return
	}
	page := pages[0]
	if r.URL.Query().Get("continue") != "" {
		page = pages[1]
	}
	w.Header().Set("Content-Type", "application/json")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(page)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	_, _ = z.Write(page)
	_ = z.Close()
}

// writeKubeconfig returns a kubeconfig of a server.
func writeKubeconfig(b *testing.B, address string) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a}}]}`, address)
	if err := os.WriteFile(out, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return out
}

// fetchPages reads all pages, and decodes nothing.
func (s *pageServer) fetchPages(b *testing.B, address string) {
	b.Helper()
	for group, pages := range s.pages {
		for i := range pages {
			url := fmt.Sprintf("%s/apis/%s/v1alpha1/intentdeployments", address, group)
			if i > 0 {
				url += "?continue=1"
			}
			answer, err := http.Get(url)
			if err != nil {
				b.Fatal(err)
			}
			_, err = io.Copy(io.Discard, answer.Body)
			if err = errors.Join(err, answer.Body.Close()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkStatusAll measures "status -A" of 1,000 deployments, half of them claims, without the start of the program. It reports the time relative to that of
// reading the same answers one after another, in the same run:
//
//	status_all_over_fetch
func BenchmarkStatusAll(b *testing.B) {
	s := newPageServer(b)
	server := httptest.NewServer(s)
	defer server.Close()
	kubeconfig := writeKubeconfig(b, server.URL)
	fetching := time.Duration(0)
	b.Run("fetch", func(b *testing.B) {
		for b.Loop() {
			s.fetchPages(b, server.URL)
		}
		fetching = b.Elapsed() / time.Duration(b.N)
	})
	b.Run("status", func(b *testing.B) {
		for b.Loop() {
			out, problems, code := runIntent("", "status", "-A", "--kubeconfig", kubeconfig)
			if lines := strings.Count(out, "\n"); code != 0 || lines != 2*benchDeployments+1 {
				b.Fatalf("status -A: exit code %d, %d lines: %s", code, lines, problems)
			}
		}
		ours := b.Elapsed() / time.Duration(b.N)
		b.ReportMetric(float64(ours)/float64(max(fetching, 1)), "status_all_over_fetch")
	})
}
