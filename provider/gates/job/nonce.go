package job

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	batchv1 "k8s.io/api/batch/v1"
)

// AnnotationNonce holds a random value that was unknown outside of the provider until the Job with it was created.
const AnnotationNonce = "rollout.intentplane.dev/nonce"

// NewNonce returns a random value.
func NewNonce() string { return rand.Text() }

// NonceDigest returns the digest that a nonce is known by.
func NonceDigest(nonce string) string {
	sum := sha256.Sum256([]byte(nonce))
	return hex.EncodeToString(sum[:])
}

// SetNonce puts a nonce on a Job that is to be created.
func SetNonce(j *batchv1.Job, nonce string) {
	if j.Annotations == nil {
		j.Annotations = map[string]string{}
	}
	j.Annotations[AnnotationNonce] = nonce
}

// HasNonce reports whether a Job has the nonce of a digest. The empty digest matches no Job.
func HasNonce(j *batchv1.Job, digest string) bool {
	nonce := j.GetAnnotations()[AnnotationNonce]
	return nonce != "" && NonceDigest(nonce) == digest
}
