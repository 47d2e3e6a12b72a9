package main

import (
	"crypto/sha256"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/intentplane/intentplane/function/memo"
)

// answers remembers responses by the digest of their requests. Crossplane asks again and again while nothing changes. It may be used
// by several goroutines: what it holds is bytes, and whoever gets a response gets one of his own.
type answers struct {
	encoded *memo.Memo[[]byte]
}

func newAnswers(maxBytes int) *answers {
	return &answers{encoded: memo.New[[]byte](maxBytes)}
}

// get returns the response to an equal request, or nil.
func (a *answers) get(k memo.Key) (*fnv1.RunFunctionResponse, error) {
	b, ok := a.encoded.Get(k)
	if !ok {
		return nil, nil //nolint:nilnil // There is none, and that is no error.
	}
	rsp := &fnv1.RunFunctionResponse{}
	return rsp, errors.Wrap(proto.Unmarshal(b, rsp), "cannot decode a remembered response")
}

// put remembers a response.
func (a *answers) put(k memo.Key, rsp *fnv1.RunFunctionResponse) error {
	b, err := proto.Marshal(rsp)
	if err != nil {
		return errors.Wrap(err, "cannot encode a response")
	}
	a.encoded.Put(k, b, len(b))
	return nil
}

// keyOf is the digest of everything in a request but its tag, which is the caller's word for the same.
func keyOf(req *fnv1.RunFunctionRequest) (memo.Key, error) {
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
