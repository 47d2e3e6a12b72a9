package intent

import (
	"github.com/intentplane/intentplane/function/intent/document"
	"github.com/intentplane/intentplane/function/intent/telecom"
)

// telecomInto returns a reader of a telecom document, which sets the values of a draft.
func telecomInto(read func(*telecom.Draft, document.Node) *document.Problem) func(*draft, document.Node) *document.Problem {
	return func(d *draft, root document.Node) *document.Problem {
		t := &telecom.Draft{
			Service: d.Service, Type: d.Type, Priority: d.Priority, Sites: d.Sites, Parameters: d.Parameters,
			QoS: d.QoS, SLOs: d.SLOs, Slice: d.Slice, Paths: d.paths,
		}
		prob := read(t, root)
		d.Service, d.Type, d.Priority, d.Sites, d.Parameters = t.Service, t.Type, t.Priority, t.Sites, t.Parameters
		d.QoS, d.SLOs, d.Slice = t.QoS, t.SLOs, t.Slice
		return prob
	}
}
