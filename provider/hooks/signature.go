package hooks

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Headers of hooks.
const (
	headerGitHub = "X-Hub-Signature-256"
	headerGitea  = "X-Gitea-Signature"

	// GitLab sends the token itself or, with a signing token, a signature as the Standard Webhooks specification says.
	headerGitLabToken = "X-Gitlab-Token"
	headerSignature   = "Webhook-Signature"
	headerID          = "Webhook-Id"
	headerTimestamp   = "Webhook-Timestamp"

	// prefixKey stands before a key in base64.
	prefixKey = "whsec_"

	// maxSkew is how far the timestamp of a hook may be from the time here.
	maxSkew = 5 * time.Minute
)

// A proof is the part of a request that shows that its sender has the token.
type proof struct {
	// sum hashes the signed content. Nil for a request that carries the token itself.
	sum hash.Hash

	// given is the signature, or the token.
	given []byte

	// token is the expected token for requests that carry the token itself.
	token []byte
}

// isRequestSigned reports whether a request carries a token, or a signature that can be one. All others are refused before anything is read.
func isRequestSigned(h http.Header, now time.Time) bool {
	return h.Get(headerGitLabToken) != "" || isBodySigned(h, now)
}

// isBodySigned reports whether a request carries a possible signature of its body. It depends on the request alone, and not on a token.
func isBodySigned(h http.Header, now time.Time) bool {
	return len(hexSignatures(h))+len(standardSignatures(h, now)) > 0
}

// hexSignatures returns the signatures of GitHub and Gitea that a request carries.
func hexSignatures(h http.Header) [][]byte {
	var out [][]byte
	for _, text := range []string{strings.TrimPrefix(h.Get(headerGitHub), "sha256="), h.Get(headerGitea)} {
		if signature, err := hex.DecodeString(text); err == nil && len(signature) == sha256.Size {
			out = append(out, signature)
		}
	}
	return out
}

// standardSignatures returns the signatures of the Standard Webhooks specification that a request carries. An old request carries none.
func standardSignatures(h http.Header, now time.Time) [][]byte {
	if !isRecentTimestamp(h.Get(headerTimestamp), now) {
		return nil
	}
	var out [][]byte
	for text := range strings.FieldsSeq(h.Get(headerSignature)) {
		encoded, isV1 := strings.CutPrefix(text, "v1,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && isV1 && len(out) < maxSignatures {
			out = append(out, signature)
		}
	}
	return out
}

// proofsOfRequest returns the proofs that a request carries, in any of the ways of Git servers.
func proofsOfRequest(h http.Header, token []byte, now time.Time) []proof {
	out := signatureProofs(h, token, now)
	for _, signature := range hexSignatures(h) {
		out = append(out, proof{sum: hmac.New(sha256.New, token), given: signature})
	}
	if signature := h.Get(headerGitLabToken); signature != "" {
		out = append(out, proof{given: []byte(signature), token: token})
	}
	return out
}

// signatureProofs returns the proofs of the Standard Webhooks specification: signatures of the id, the time and the body.
func signatureProofs(h http.Header, token []byte, now time.Time) []proof {
	encoded, hasPrefix := bytes.CutPrefix(token, []byte(prefixKey))
	key, err := base64.StdEncoding.DecodeString(string(encoded))
	if !hasPrefix || err != nil || len(key) == 0 {
		return nil
	}
	var out []proof
	for _, signature := range standardSignatures(h, now) {
		sum := hmac.New(sha256.New, key)
		_, _ = io.WriteString(sum, h.Get(headerID)+"."+h.Get(headerTimestamp)+".")
		out = append(out, proof{sum: sum, given: signature})
	}
	return out
}

// maxSignatures bounds how many signatures of one request are compared. A sender has two while it changes its key.
const maxSignatures = 4

// isRecentTimestamp reports whether a time in seconds since 1970 is near.
func isRecentTimestamp(seconds string, now time.Time) bool {
	n, err := strconv.ParseInt(seconds, 10, 64)
	return err == nil && now.Sub(time.Unix(n, 0)).Abs() <= maxSkew
}

// checkProofs reads a signed body through all hashes, and reports whether one of the proofs holds. It keeps nothing of the body. It returns the error of
// reading.
func checkProofs(proofs []proof, isBodySigned bool, body io.Reader) (bool, error) {
	var sums []io.Writer
	for _, p := range proofs {
		if p.sum != nil {
			sums = append(sums, p.sum)
		}
	}
	if isBodySigned {
		if _, err := io.Copy(io.MultiWriter(sums...), body); err != nil {
			return false, errors.Wrap(err, "cannot read body")
		}
	}
	return slices.ContainsFunc(proofs, proof.isProofValid), nil
}

// isProofValid compares in a time that does not depend on where the first difference is, nor on how long a token is.
func (p proof) isProofValid() bool {
	if p.sum != nil {
		return hmac.Equal(p.given, p.sum.Sum(nil))
	}
	actual, want := sha256.Sum256(p.given), sha256.Sum256(p.token)
	return hmac.Equal(actual[:], want[:])
}
