package main

import (
	"crypto/sha256"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/intentplane/intentplane/apis/memo"
)

// responseCache holds responses by the digest of their requests. Crossplane repeats a request while nothing changes. It is safe for concurrent
// use: it holds bytes, and each caller gets a response of its own.
type responseCache struct {
	encoded *memo.Memo[[]byte]
}

func newResponseCache(maxBytes int) *responseCache {
	return &responseCache{encoded: memo.New[[]byte](maxBytes)}
}

// getResponse returns the response to an equal request, or nil.
func (a *responseCache) getResponse(k memo.Key) (*fnv1.RunFunctionResponse, error) {
	b, ok := a.encoded.Get(k)
	if !ok {
		return nil, nil //nolint:nilnil // A missing response is not an error.
	}
	rsp := &fnv1.RunFunctionResponse{}
	return rsp, errors.Wrap(proto.Unmarshal(b, rsp), "cannot decode a cached response")
}

// putResponse caches a response.
func (a *responseCache) putResponse(k memo.Key, rsp *fnv1.RunFunctionResponse) error {
	b, err := proto.Marshal(rsp)
	if err != nil {
		return errors.Wrap(err, "cannot encode a response")
	}
	a.encoded.Put(k, b, len(b))
	return nil
}

// requestCacheKey returns the digest of a request without its tag, by which the caller identifies the call.
func requestCacheKey(req *fnv1.RunFunctionRequest) (memo.Key, error) {
	bare := req.ProtoReflect().New()
	req.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		bare.Set(field, v)
		return true
	})
	bare.SetUnknown(req.ProtoReflect().GetUnknown())
	if untagged, ok := bare.Interface().(*fnv1.RunFunctionRequest); ok && untagged.GetMeta() != nil {
		untagged.Meta = proto.CloneOf(untagged.GetMeta())
		untagged.Meta.Tag = ""
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(bare.Interface())
	return sha256.Sum256(b), errors.Wrap(err, "cannot encode the request")
}
