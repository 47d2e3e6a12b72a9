package telecom

import (
	"regexp"
	"strings"

	"github.com/intentplane/intentplane/function/intent/document"
)

const maxSST = 255

var (
	sliceSD   = regexp.MustCompile(`^[0-9A-Fa-f]{6}$`)
	slicePLMN = regexp.MustCompile(`^[0-9]{5,6}$`)
)

// A Slice is a network slice.
type Slice struct {
	// PLMN is the mobile network's code. Empty means the Site's.
	PLMN string `json:"plmn,omitempty"`

	// SD is the slice differentiator, in lower case. Empty means none.
	SD string `json:"sd,omitempty"`

	// SST is the slice or service type. Nil means that the service is in no slice.
	SST *int32 `json:"sst,omitempty"`
}

// Normalize writes a slice of a service in its normal form. It returns a problem, whose path is that of a service intent, for a value that 3GPP does not
// allow.
func (s *Slice) Normalize(serviceType string) *document.Problem {
	s.SD = strings.ToLower(s.SD)
	if s.SD != "" && !sliceSD.MatchString(s.SD) {
		return document.Problemf("slice.sd", "must be six hexadecimal digits")
	}
	if s.PLMN != "" && !slicePLMN.MatchString(s.PLMN) {
		return document.Problemf("slice.plmn", "must be five or six digits")
	}
	return s.checkSliceSST(serviceType)
}

// checkSliceSST refuses a slice without a type, and a slice whose type contradicts the service's.
func (s *Slice) checkSliceSST(serviceType string) *document.Problem {
	c, classed := ClassOf(serviceType)
	if s.SST == nil {
		if *s != (Slice{}) && !classed {
			return document.Problemf("slice.sst", "must be set: the service's type does not say it")
		}
		return nil
	}
	sst := *s.SST
	if sst < 0 || sst > maxSST {
		return document.Problemf("slice.sst", "must be from 0 to %d", maxSST)
	}
	for _, otherClass := range sliceClasses() {
		if classed && otherClass.SST == sst && otherClass != c {
			return document.Problemf("slice.sst", "%d is that of %s, but the service's type is %s", sst, otherClass.name, serviceType)
		}
	}
	return nil
}

// ReadSST reads the slice or service type, which is a whole number.
func (s *Slice) ReadSST(n document.Node) *document.Problem {
	sst, prob := n.Whole()
	s.SST = &sst
	return prob
}
