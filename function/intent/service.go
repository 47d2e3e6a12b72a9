package intent

import (
	"encoding/json"

	"github.com/intentplane/intentplane/function/intent/document"
)

const serviceForm = "service intent"

// readService reads a service intent.
func readService(d *draft, root document.Node) *document.Problem {
	r := &serviceReader{draft: d}
	return root.Each(serviceForm, map[string]document.Reader{
		"service":      document.Into(&r.Service),
		"type":         document.Into(&r.Type),
		"image":        document.Into(&r.Image),
		"priority":     document.Into(&r.Priority),
		"site":         r.readSingleSite,
		"sites":        r.readSiteList,
		"selector":     r.readTextMapInto(&r.Selector),
		"replicas":     r.readReplicas,
		"siteReplicas": r.readSiteReplicas,
		"resources":    r.readResources,
		"runtime":      r.readRuntime,
		"endpoints":    r.readEndpoints,
		"parameters":   r.readTextMapInto(&r.Parameters),
		"qos":          r.readQoSBounds,
		"slice":        r.readNetworkSlice,
		"slos":         r.readTextMapInto(&r.SLOs),
	})
}

// A serviceReader reads the fields of a service intent.
type serviceReader struct {
	*draft

	firstSites string
}

func (r *serviceReader) readSingleSite(n document.Node) *document.Problem {
	if prob := r.recordSitesField(n); prob != nil {
		return prob
	}
	r.paths["sites"], r.paths["sites[0]"] = n.Path, n.Path
	r.Sites = []string{""}
	return document.Into(&r.Sites[0])(n)
}

func (r *serviceReader) readSiteList(n document.Node) *document.Problem {
	if prob := r.recordSitesField(n); prob != nil {
		return prob
	}
	// One word stands for several Sites wherever it is written.
	if _, ok := n.Value.(string); ok {
		return document.Problemf(n.Path, "must be a list of names: write one name as site")
	}
	if _, ok := n.Value.([]document.Node); !ok {
		return document.Problemf(n.Path, "must be a list of names")
	}
	names, prob := n.Texts()
	if prob == nil && len(names) == 0 {
		return document.Problemf(n.Path, "must name a Site: leave it out when deliveryConfig does")
	}
	r.Sites = names
	return prob
}

func (r *serviceReader) recordSitesField(n document.Node) *document.Problem {
	if r.firstSites != "" {
		return document.Problemf(n.Path, "excludes %s: set only one of them", r.firstSites)
	}
	r.firstSites = n.Path
	return nil
}

func (r *serviceReader) readReplicas(n document.Node) *document.Problem {
	if _, ok := n.Value.([]document.Member); ok {
		return r.readSiteReplicas(n)
	}
	number, prob := n.Whole()
	if prob != nil {
		prob.Message += ", or an object of them by Site"
	}
	r.Replicas = number
	return prob
}

func (r *serviceReader) readSiteReplicas(n document.Node) *document.Problem {
	members, prob := n.Members()
	if prob != nil {
		return prob
	}
	if r.SiteReplicas != nil {
		return document.Problemf(n.Path, "excludes %s by Site: set only one of them", r.pathInForm("siteReplicas"))
	}
	r.SiteReplicas = map[string]int32{}
	r.paths["siteReplicas"] = n.Path
	for _, m := range members {
		if r.SiteReplicas[m.Name], prob = m.Node.Whole(); prob != nil {
			return prob
		}
	}
	return nil
}

func (r *serviceReader) readResources(n document.Node) *document.Problem {
	return n.Each(serviceForm, map[string]document.Reader{
		"cpu":    document.Into(&r.Resources.CPU),
		"memory": document.Into(&r.Resources.Memory),
	})
}

func (r *serviceReader) readEndpoints(n document.Node) *document.Problem {
	items, ok := n.Value.([]document.Node)
	if !ok {
		return document.Problemf(n.Path, `must be a list such as [{"name": "http", "port": 8080}]`)
	}
	for _, item := range items {
		e := Endpoint{}
		prob := item.Each(serviceForm, map[string]document.Reader{
			"name":     document.Into(&e.Name),
			"port":     readWholeInto(&e.Port),
			"protocol": document.Into(&e.Protocol),
		})
		if prob != nil {
			return prob
		}
		r.Endpoints = append(r.Endpoints, e)
	}
	return nil
}

func (r *serviceReader) readQoSBounds(n document.Node) *document.Problem {
	return n.Each(serviceForm, map[string]document.Reader{
		"downlinkMbps": readDecimal(&r.QoS.DownlinkMbps), "uplinkMbps": readDecimal(&r.QoS.UplinkMbps),
		"latencyMs": readDecimal(&r.QoS.LatencyMs), "jitterMs": readDecimal(&r.QoS.JitterMs),
		"packetLossRate": readDecimal(&r.QoS.PacketLossRate),
	})
}

func (r *serviceReader) readNetworkSlice(n document.Node) *document.Problem {
	return n.Each(serviceForm, map[string]document.Reader{
		"sst":  r.Slice.ReadSST,
		"sd":   document.Into(&r.Slice.SD),
		"plmn": document.Into(&r.Slice.PLMN),
	})
}

func (r *serviceReader) readTextMapInto(target *map[string]string) document.Reader {
	return func(n document.Node) *document.Problem {
		m, prob := n.TextMap()
		*target = m
		return prob
	}
}

func readWholeInto(target *int32) document.Reader {
	return func(n document.Node) *document.Problem {
		i, prob := n.Whole()
		*target = i
		return prob
	}
}

// readDecimal returns a reader of a number, which may be in quotes.
func readDecimal(target *string) document.Reader {
	return func(n document.Node) *document.Problem {
		switch v := n.Value.(type) {
		case json.Number:
			*target = v.String()
		case string:
			*target = v
		}
		if *target == "" {
			return document.Problemf(n.Path, "must be a decimal number, such as 20 or 0.5")
		}
		return nil
	}
}
