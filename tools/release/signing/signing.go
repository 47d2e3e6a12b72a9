package signing

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/sigstore/cosign/v3/pkg/oci"
	"github.com/sigstore/cosign/v3/pkg/oci/empty"
	"github.com/sigstore/cosign/v3/pkg/oci/mutate"
	"github.com/sigstore/cosign/v3/pkg/oci/static"
	"github.com/sigstore/cosign/v3/pkg/types"
	"github.com/sigstore/sigstore/pkg/signature/dsse"
	"github.com/sigstore/sigstore/pkg/signature/payload"
)

// intotoType is the media type of in-toto statements in a signed envelope.
const intotoType = "application/vnd.in-toto+json"

// A Signer signs with a key, and records each signature in a log.
type Signer struct {
	Key *Key
	Log *Log
}

// SignManifest returns the image that cosign publishes beside a manifest, with one signature of its digest.
func (s Signer) SignManifest(ctx context.Context, repository name.Repository, digest v1.Hash) (v1.Image, error) {
	text, err := payload.Cosign{Image: repository.Digest(digest.String())}.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot describe %s: %w", digest, err)
	}
	raw, err := s.Key.signer.SignMessage(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("cannot sign %s: %w", digest, err)
	}
	entry, err := s.Log.recordSignature(ctx, text, raw, s.Key.Public)
	if err != nil {
		return nil, err
	}
	signature, err := static.NewSignature(text, base64.StdEncoding.EncodeToString(raw), static.WithBundle(entry))
	if err != nil {
		return nil, fmt.Errorf("cannot keep the signature of %s: %w", digest, err)
	}
	return collect(signature)
}

// SignStatement returns an in-toto statement in a signed envelope.
func (s Signer) SignStatement(statement []byte) ([]byte, error) {
	envelope, err := dsse.WrapSigner(s.Key.signer, intotoType).SignMessage(bytes.NewReader(statement))
	if err != nil {
		return nil, fmt.Errorf("cannot sign a statement: %w", err)
	}
	return envelope, nil
}

// An Attestation is a statement about a manifest.
type Attestation struct {
	// Predicate is the type of the statement's content, as a URI.
	Predicate string

	// Statement is the in-toto statement, as JSON.
	Statement []byte
}

// Attest returns the image that cosign publishes beside a manifest, with the signed attestations.
func (s Signer) Attest(ctx context.Context, all []Attestation) (v1.Image, error) {
	var out []oci.Signature
	for _, a := range all {
		signed, err := s.signAttestation(ctx, a)
		if err != nil {
			return nil, err
		}
		out = append(out, signed)
	}
	return collect(out...)
}

func (s Signer) signAttestation(ctx context.Context, a Attestation) (oci.Signature, error) {
	envelope, err := s.SignStatement(a.Statement)
	if err != nil {
		return nil, err
	}
	entry, err := s.Log.recordEnvelope(ctx, envelope, s.Key.Public)
	if err != nil {
		return nil, err
	}
	return static.NewAttestation(envelope,
		static.WithLayerMediaType(types.DssePayloadType),
		static.WithAnnotations(map[string]string{"predicateType": a.Predicate}),
		static.WithBundle(entry))
}

func collect(all ...oci.Signature) (v1.Image, error) {
	img, err := mutate.AppendSignatures(empty.Signatures(), false, all...)
	if err != nil {
		return nil, fmt.Errorf("cannot collect signatures: %w", err)
	}
	return img, nil
}

// SignatureTag returns the tag of the image with the signatures of a manifest.
func SignatureTag(digest v1.Hash) string { return digest.Algorithm + "-" + digest.Hex + ".sig" }

// AttestationTag returns the tag of the image with the attestations about a manifest.
func AttestationTag(digest v1.Hash) string { return digest.Algorithm + "-" + digest.Hex + ".att" }
