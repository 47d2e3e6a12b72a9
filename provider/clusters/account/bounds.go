package account

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const mebibyte = 1 << 20

const (
	// pagesPerList is how many of the largest pages the bound of a list has room for.
	pagesPerList = 8

	// decodedPerByte is how much memory an answer may take once it is decoded, as a multiple of its bound. One object may have many small
	// values; a page with many of them is requested again with fewer objects.
	decodedPerByte, decodedPerPageByte = 16, 6

	// largeAnswer is the size from which an answer waits for other large answers of its author, and largeDecoded the same limit for its
	// decoded memory.
	largeAnswer  = 256 << 10
	largeDecoded = 4 * mebibyte

	// homeFactor is how many times the bound of a tenant's clusters the objects of one namespace of the provider's own cluster may take. GitOps engines have all
	// of their objects in one namespace.
	homeFactor = 4

	// homeTotalFactor is how many times that bound the objects of all namespaces of the provider's own cluster may take, beyond a guaranteed part of the bound in
	// each: a tenant with many namespaces fills the rest, and no other namespace needs it for some thousand objects.
	homeTotalFactor, guaranteedPart = 8, 8

	// heldStep is in which steps an answer about an object takes memory of its account, in bytes.
	heldStep = 16 << 10

	// objectsPerEvent is how many times the bound of an object an event may have: Kubernetes stores objects that are somewhat larger than the
	// default, and one of them must not end the watch of all others.
	objectsPerEvent = 2

	// eventRate is how many events per second are read from all clusters of one author, and eventBurst how many at once. A large event counts
	// as one for each eventBytes.
	eventRate, eventBurst = 200, 2000
	eventBytes            = 4 << 10
)

// Bounds limit the memory and traffic that an API server may cause in the provider. A zero field has its default.
type Bounds struct {
	// Object bounds an answer about one object, in bytes as they are after decompression. An event of a watch may have twice as many. Zero
	// means 1 MiB.
	Object int64
	// List bounds all pages of one list together, in bytes as they are after decompression. Zero means 64 MiB.
	List int64
	// Store bounds the memory that all pools together hold for all clusters that one tenant published, or for any other cluster, in bytes: watched
	// objects, lists that are under way, and answers that are being read. Zero means 32 MiB.
	Store int64
}

func (b Bounds) objectBound() int64 { return boundOrDefault(b.Object, mebibyte) }
func (b Bounds) listBound() int64   { return boundOrDefault(b.List, 64*mebibyte) }
func (b Bounds) storeBound() int64  { return boundOrDefault(b.Store, 32*mebibyte) }

func boundOrDefault(value, otherwise int64) int64 {
	if value == 0 {
		return otherwise
	}
	return value
}

// A bound of one answer, or of one event.
type bound struct {
	// bytes of the text, and decoded bytes of memory that its values take.
	bytes, decoded int64
	// of names the bounded answer, for error messages.
	of string
}

func (b Bounds) answerBound(k Kind) bound {
	switch k {
	case PageAnswer:
		page := b.listBound() / pagesPerList
		return bound{bytes: page, decoded: page * decodedPerPageByte, of: "a page of a list"}
	case EventsAnswer:
		event := b.objectBound() * objectsPerEvent
		return bound{bytes: event, decoded: event * decodedPerByte, of: "an event of a watch"}
	case ObjectAnswer:
	}
	return bound{bytes: b.objectBound(), decoded: b.objectBound() * decodedPerByte, of: "an answer about one object"}
}

// checkAnswerSize returns an AnswerError for an answer over its limits.
func (b bound) checkAnswerSize(bytes, decoded int64) error {
	switch {
	case bytes > b.bytes:
		return &AnswerError{Detail: fmt.Sprintf("the cluster sends more than %s for %s", formatByteSize(b.bytes), b.of), Oversize: true}
	case decoded > b.decoded:
		return &AnswerError{Detail: fmt.Sprintf("the cluster sends an answer that takes more than %s of memory for %s", formatByteSize(b.decoded), b.of), Oversize: true}
	}
	return nil
}

func formatByteSize(bytes int64) string {
	if bytes%mebibyte == 0 {
		return fmt.Sprintf("%d MiB", bytes/mebibyte)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// An AnswerError reports an answer that is larger than its bound, or breaks off. Its text holds nothing that the cluster sent.
type AnswerError struct {
	// Detail describes the answer of the cluster and the bound that it exceeds.
	Detail string

	// Oversize is true where fewer objects in one answer could be small enough.
	Oversize bool

	// Passing is true for trouble that a healthy cluster has too. It is asked again soon.
	Passing bool
}

// Error returns the detail.
func (e *AnswerError) Error() string { return e.Detail }

// IsOversize reports whether fewer objects in one answer could be small enough.
func IsOversize(err error) bool {
	var exceeded *AnswerError
	return errors.As(err, &exceeded) && exceeded.Oversize
}
