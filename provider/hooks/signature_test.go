package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	token = "a token of some length"
	body  = `{"ref":"refs/heads/main"}`
)

func clock() time.Time { return time.Unix(2000000000, 0) }

// sign returns the signature of a text.
func sign(key, text string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	_, _ = h.Write([]byte(text))
	return h.Sum(nil)
}

func hexOf(key, text string) string { return hex.EncodeToString(sign(key, text)) }

// signedHeaders returns the headers of a GitLab server for a signing token.
func signedHeaders(key, timestamp string) http.Header {
	h := http.Header{}
	h.Set(headerID, "msg-1")
	h.Set(headerTimestamp, timestamp)
	h.Set(headerSignature, "v1,AAAA v1,"+base64.StdEncoding.EncodeToString(sign(key, "msg-1."+timestamp+"."+body)))
	return h
}

func header(name, value string) http.Header {
	h := http.Header{}
	h.Set(name, value)
	return h
}

func TestProofs(t *testing.T) {
	signing := prefixKey + base64.StdEncoding.EncodeToString([]byte("key of GitLab"))
	cases := map[string]struct {
		reason string
		header http.Header
		token  string
		want   bool
	}{
		"GitHub":       {reason: "The signature of GitHub is taken.", header: header(headerGitHub, "sha256="+hexOf(token, body)), token: token, want: true},
		"Gitea":        {reason: "The signature of Gitea is taken.", header: header(headerGitea, hexOf(token, body)), token: token, want: true},
		"GitLab":       {reason: "The token of GitLab is taken.", header: header(headerGitLabToken, token), token: token, want: true},
		"Signing":      {reason: "The signature of GitLab is taken.", header: signedHeaders("key of GitLab", "2000000000"), token: signing, want: true},
		"None":         {reason: "A hook without a signature is refused.", header: http.Header{}, token: token},
		"OtherToken":   {reason: "Another token is refused.", header: header(headerGitLabToken, token+"x"), token: token},
		"OtherKey":     {reason: "A signature with another token is refused.", header: header(headerGitHub, "sha256="+hexOf("other", body)), token: token},
		"OtherBody":    {reason: "A signature of another body is refused.", header: header(headerGitHub, "sha256="+hexOf(token, "x")), token: token},
		"Short":        {reason: "A part of a signature is refused.", header: header(headerGitea, hexOf(token, body)[:32]), token: token},
		"Malformed":    {reason: "A malformed signature is refused.", header: header(headerGitea, "x"), token: token},
		"Old":          {reason: "A signed time that is long ago is refused.", header: signedHeaders("key of GitLab", "1999999000"), token: signing},
		"NoTime":       {reason: "A signature without a time is refused.", header: signedHeaders("key of GitLab", ""), token: signing},
		"NoPrefix":     {reason: "A key that is not written as a signing token signs nothing.", header: signedHeaders("key of GitLab", "2000000000"), token: token},
		"OtherSigning": {reason: "A signature with another signing token is refused.", header: signedHeaders("other", "2000000000"), token: signing},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := checkProofs(proofsOfRequest(tc.header, []byte(tc.token), clock()), isBodySigned(tc.header, clock()), strings.NewReader(body))
			if got != tc.want || err != nil {
				t.Errorf("\n%s\ncheckProofs(...): %t, %v", tc.reason, got, err)
			}
			if tc.want && !isRequestSigned(tc.header, clock()) {
				t.Errorf("\n%s\nisSigned(...): false", tc.reason)
			}
		})
	}
}

// TestManySignatures has a request with more signatures than a sender has.
func TestManySignatures(t *testing.T) {
	h := signedHeaders("key", "2000000000")
	h.Set(headerSignature, strings.Repeat("v1,AAAA ", 1000))
	if got := len(proofsOfRequest(h, []byte(prefixKey+"a2V5"), clock())); got != maxSignatures {
		t.Errorf("%d signatures of one request are compared", got)
	}
}
