package applications

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/controlplane"
)

const hookToken = "a token of some length"

// hookAddress is where the provider receives webhooks.
var hookAddress string

// openHooks lets the provider receive webhooks.
func openHooks(o *controlplane.Options) {
	free, err := controlplane.FreePorts(1)
	if err != nil {
		return // Without an address the story fails.
	}
	hookAddress = fmt.Sprintf("127.0.0.1:%d", free[0])
	o.Provider.Args = append(o.Provider.Args, "--source-webhook-address="+hookAddress)
}

// giveWebhook lets the Application have a webhook.
func (s *sourceStage) giveWebhook() {
	s.T.Helper()
	s.must(s.Client.Create(s.T.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "hook"}, StringData: map[string]string{"token": hookToken}}))
	s.Set(s.app, map[string]any{"secretRef": map[string]any{"name": "hook"}}, "spec", "source", "webhook")
}

// postHook posts a body, signed as Gitea does with a token, and returns the status of the answer.
func (s *sourceStage) postHook(token string, body []byte) int {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, "http://"+hookAddress+"/hooks/"+s.Namespace+"/shop", bytes.NewReader(body))
	s.must(err)
	if token != "" {
		sum := hmac.New(sha256.New, []byte(token))
		_, _ = sum.Write(body)
		req.Header.Set("X-Gitea-Signature", hex.EncodeToString(sum.Sum(nil)))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0 // The server closed the connection before all was sent.
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// addCommit adds a commit to the source, and asks for no look at it.
func (s *sourceStage) addCommit(content string) string {
	s.T.Helper()
	id, err := s.Git.Commit(s.T.Context(), s.repository, "main", map[string]string{"main.txt": content}, "Version "+content)
	s.must(err)
	return id
}
