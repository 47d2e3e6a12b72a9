package receiver

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReceiver posts to a receiver that fails, loses an answer, and is down for a while.
func TestReceiver(t *testing.T) {
	r, err := New("key")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { r.Stop() }()
	post := func(id, key string) string {
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM([]byte(r.Bundle()))
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
		body := fmt.Appendf(nil, `{"id": %q}`, id)
		mac := hmac.New(sha256.New, []byte(key))
		_, _ = mac.Write(body)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL(), bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
		resp, err := c.Do(req)
		if err != nil {
			return "no answer"
		}
		_ = resp.Body.Close()
		return resp.Status
	}
	_, changed := r.Taken()
	got := []string{post("a", "key"), post("b", "another")}
	<-changed
	r.Fail(1)
	got = append(got, post("c", "key"), post("c", "key"))
	r.LoseAnswers(1)
	got = append(got, post("d", "key"))
	r.Stop()
	got = append(got, post("e", "key"))
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	got = append(got, post("e", "key"))
	want := []string{"204 No Content", "401 Unauthorized", "503 Service Unavailable", "204 No Content", "no answer", "no answer", "204 No Content"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers: -want, +got:\n%s", diff)
	}
	all, unsigned := r.Refused()
	received, _ := r.Taken()
	var ids []string
	for _, n := range received {
		ids = append(ids, n.ID)
	}
	if strings.Join(ids, "") != "acde" || all != 2 || unsigned != 1 {
		t.Errorf("taken: %s; refused: %d, %d of them without a right signature", ids, all, unsigned)
	}
}
