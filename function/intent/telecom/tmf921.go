package telecom

import (
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/function/intent/document"
)

// FormTMF921 is the name of the form of TMF921.
const FormTMF921 = "TMF921 intent"

// Bounds that this form has and others have not.
const (
	maxTMFName    = 255
	maxTMFMbps    = 10000
	maxTMFLatency = 1000
)

var tmfID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// A tmfReader reads an intent as TMF921 writes it. Fields that only describe it are read and checked, and change nothing.
type tmfReader struct {
	*Draft

	id, name, class, site, lifecycle, ignored string
}

// ReadTMF921 reads an intent as TMF921 writes it. It returns a problem for an unknown or missing field, and for a value that the form does not allow.
func ReadTMF921(d *Draft, root document.Node) *document.Problem {
	r := &tmfReader{Draft: d, lifecycle: "active"}
	maps.Copy(d.Paths, map[string]string{
		"service": "service.name", "type": "service.type", "parameters": "service.characteristics",
		"sites": "targetSite", "sites[0]": "targetSite",
		"qos.downlinkMbps": "qos.dl_mbps", "qos.uplinkMbps": "qos.ul_mbps", "qos.latencyMs": "qos.latency_ms",
		"qos.jitterMs": "qos.jitter_ms", "qos.packetLossRate": "qos.packet_loss_rate",
	})
	prob := root.Each(FormTMF921, map[string]document.Reader{
		"intentId":    document.Into(&r.id),
		"name":        document.Into(&r.name),
		"description": document.Into(&r.ignored),
		"service":     r.readService,
		"targetSite":  document.Into(&r.site),
		"qos":         r.readQoSBounds,
		"slice":       r.readNetworkSlice,
		"priority":    document.Into(&r.Priority),
		"lifecycle":   document.Into(&r.lifecycle),
		"metadata":    r.readMetadata,
	})
	if prob != nil {
		return prob
	}
	return r.checkRequired()
}

// checkRequired checks the fields of this form alone.
func (r *tmfReader) checkRequired() *document.Problem {
	if r.site != "" {
		r.Sites = []string{r.site}
	}
	switch {
	case !tmfID.MatchString(r.id):
		return document.Problemf("intentId", "must be set to letters, digits, '-' and '_'")
	case utf8.RuneCountInString(r.name) > maxTMFName:
		return document.Problemf("name", "must not be longer than %d characters", maxTMFName)
	case r.class == "":
		return document.Problemf("service.type", "must be set: eMBB, URLLC, mMTC or generic")
	case r.site == "":
		return document.Problemf("targetSite", "must be set: the name of a Site, or both")
	}
	return r.checkLifecycle()
}

func (r *tmfReader) checkLifecycle() *document.Problem {
	switch r.lifecycle {
	case "draft", "active":
		return nil
	case "suspended":
		return document.Problemf("lifecycle", "must not be suspended: set spec.suspend of the deployment")
	case "terminated":
		return document.Problemf("lifecycle", "must not be terminated: delete the deployment")
	}
	return document.Problemf("lifecycle", "must be draft or active")
}

func (r *tmfReader) readService(n document.Node) *document.Problem {
	return n.Each(FormTMF921, map[string]document.Reader{
		"name":            document.Into(&r.Service),
		"type":            r.readSliceClass,
		"characteristics": r.readCharacteristics,
	})
}

func (r *tmfReader) readSliceClass(n document.Node) *document.Problem {
	if prob := document.Into(&r.class)(n); prob != nil {
		return prob
	}
	t, ok := ServiceTypeOf(r.class)
	if !ok {
		return document.Problemf(n.Path, "must be eMBB, URLLC, mMTC or generic")
	}
	r.Type = t
	return nil
}

// readCharacteristics reads text, numbers and booleans into parameters, which are all text.
func (d *Draft) readCharacteristics(n document.Node) *document.Problem {
	members, prob := n.Members()
	if prob != nil {
		return prob
	}
	for _, m := range members {
		value, ok := scalarText(m.Node)
		if !ok {
			return document.Problemf(m.Node.Path, "must be text, a number, true or false")
		}
		if _, twice := d.Parameters[m.Name]; twice {
			return document.Problemf(m.Node.Path, "is said a second time")
		}
		d.setParameter(m.Name, value)
	}
	return nil
}

func (d *Draft) setParameter(name, value string) {
	if d.Parameters == nil {
		d.Parameters = map[string]string{}
	}
	d.Parameters[name] = value
}

func scalarText(n document.Node) (string, bool) {
	switch v := n.Value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

func (r *tmfReader) readQoSBounds(n document.Node) *document.Problem {
	return n.Each(FormTMF921, map[string]document.Reader{
		"dl_mbps": numberOrNull(&r.QoS.DownlinkMbps, maxTMFMbps), "ul_mbps": numberOrNull(&r.QoS.UplinkMbps, maxTMFMbps),
		"latency_ms": numberOrNull(&r.QoS.LatencyMs, maxTMFLatency), "jitter_ms": numberOrNull(&r.QoS.JitterMs, maxTMFLatency),
		"packet_loss_rate": numberOrNull(&r.QoS.PacketLossRate, 1),
	})
}

func (r *tmfReader) readNetworkSlice(n document.Node) *document.Problem {
	return n.Each(FormTMF921, map[string]document.Reader{
		"sst":  r.Slice.ReadSST,
		"sd":   readUnlessNull(document.Into(&r.Slice.SD)),
		"plmn": readUnlessNull(document.Into(&r.Slice.PLMN)),
	})
}

func (r *tmfReader) readMetadata(n document.Node) *document.Problem {
	return n.Each(FormTMF921, map[string]document.Reader{
		"createdAt": document.Into(&r.ignored),
		"updatedAt": document.Into(&r.ignored),
		"version":   document.Into(&r.ignored),
	})
}

func numberOrNull(target *string, limit int) document.Reader {
	return readUnlessNull(func(n document.Node) *document.Problem {
		number, prob := n.Number()
		if prob != nil {
			return prob
		}
		value, ok := measure.Decimal(number)
		if !ok || measure.Above(value, limit) {
			return document.Problemf(n.Path, "must be from 0 to %d, in decimal notation", limit)
		}
		*target = value
		return nil
	})
}

// readUnlessNull returns a reader that ignores null.
func readUnlessNull(read document.Reader) document.Reader {
	return func(n document.Node) *document.Problem {
		if n.Value == nil {
			return nil
		}
		return read(n)
	}
}
