package intent

import (
	"encoding/json"
	"math"
	"strconv"
)

// FromText reads the text of a claim's spec.intent: a service intent as JSON, such as
//
//	{"service": "edge-analytics", "sites": ["edge1", "edge2"], "replicas": {"edge1": 2, "edge2": 1}}
//
// It returns an error that says where in the text the trouble is for anything else: text that is not one JSON object, a field
// that it does not know or that comes twice, a value of the wrong type, and a value that FromExpectation would refuse.
func FromText(text string) (Intent, error) {
	d, err := parse(text)
	if err != nil {
		return Intent{}, err
	}
	r := &reader{draft: draft{Intent: Intent{Type: DefaultType, Replicas: 1}, replicasPath: "siteReplicas", sitesPath: "sites"}}
	if prob := r.read(d.root); prob != nil {
		return Intent{}, d.refuse(prob)
	}
	out, prob := r.normal()
	if prob != nil {
		return Intent{}, d.refuse(prob)
	}
	return out, nil
}

// A reader reads a service intent from JSON values.
type reader struct {
	draft

	firstSites string
}

func (r *reader) read(root node) *problem {
	members, prob := object(root, "")
	if prob != nil {
		return prob
	}
	fields := map[string]func(node, string) *problem{
		"service":      into(&r.Service),
		"type":         into(&r.Type),
		"image":        into(&r.Image),
		"site":         r.readSite,
		"sites":        r.readSites,
		"replicas":     r.readReplicas,
		"siteReplicas": r.readSiteReplicas,
		"resources":    r.readResources,
		"parameters":   r.readParameters,
	}
	return each(members, "", fields)
}

// each calls the function of each field. It refuses fields that have none.
func each(members []member, path string, fields map[string]func(node, string) *problem) *problem {
	for _, m := range members {
		full := child(path, m.name)
		read, ok := fields[m.name]
		if !ok {
			return problemf(full, "is not a field of a service intent")
		}
		if prob := read(m.node, full); prob != nil {
			return prob
		}
	}
	return nil
}

func (r *reader) readSite(n node, path string) *problem {
	if prob := r.onlySites(path); prob != nil {
		return prob
	}
	r.sitesPath = path
	r.Sites = []string{""}
	return into(&r.Sites[0])(n, path)
}

func (r *reader) readSites(n node, path string) *problem {
	if prob := r.onlySites(path); prob != nil {
		return prob
	}
	// One word stands for several Sites wherever it is written.
	if _, ok := n.value.(string); ok {
		return problemf(path, "must be a list of names: write one name as site")
	}
	items, ok := n.value.([]node)
	if !ok {
		return problemf(path, "must be a list of names")
	}
	if len(items) == 0 {
		return problemf(path, "must name a Site: leave it out when deliveryConfig does")
	}
	for i, n := range items {
		var name string
		if prob := into(&name)(n, item(path, i)); prob != nil {
			return prob
		}
		r.Sites = append(r.Sites, name)
	}
	return nil
}

func (r *reader) onlySites(path string) *problem {
	if r.firstSites != "" {
		return problemf(path, "excludes %s: say one of them", r.firstSites)
	}
	r.firstSites = path
	return nil
}

func (r *reader) readReplicas(n node, path string) *problem {
	if _, ok := n.value.([]member); ok {
		return r.readSiteReplicas(n, path)
	}
	number, prob := whole(n, path)
	if prob != nil {
		prob.message += ", or an object of them by Site"
	}
	r.Replicas = number
	return prob
}

func (r *reader) readSiteReplicas(n node, path string) *problem {
	members, prob := object(n, path)
	if prob != nil {
		return prob
	}
	if r.SiteReplicas != nil {
		return problemf(path, "excludes %s by Site: say one of them", r.replicasPath)
	}
	r.SiteReplicas = map[string]int32{}
	r.replicasPath = path
	for _, m := range members {
		if r.SiteReplicas[m.name], prob = whole(m.node, child(path, m.name)); prob != nil {
			return prob
		}
	}
	return nil
}

func (r *reader) readResources(n node, path string) *problem {
	members, prob := object(n, path)
	if prob != nil {
		return prob
	}
	return each(members, path, map[string]func(node, string) *problem{
		"cpu":    into(&r.Resources.CPU),
		"memory": into(&r.Resources.Memory),
	})
}

func (r *reader) readParameters(n node, path string) *problem {
	members, prob := object(n, path)
	if prob != nil {
		return prob
	}
	r.Parameters = map[string]string{}
	for _, m := range members {
		var value string
		if prob := into(&value)(m.node, child(path, m.name)); prob != nil {
			return prob
		}
		r.Parameters[m.name] = value
	}
	return nil
}

// into reads a string.
func into(to *string) func(node, string) *problem {
	return func(n node, path string) *problem {
		s, ok := n.value.(string)
		if !ok {
			return problemf(path, "must be a string, in quotes")
		}
		*to = s
		return nil
	}
}

func object(n node, path string) ([]member, *problem) {
	members, ok := n.value.([]member)
	if !ok {
		return nil, problemf(path, "must be an object")
	}
	return members, nil
}

func whole(n node, path string) (int32, *problem) {
	number, ok := n.value.(json.Number)
	if !ok {
		return 0, problemf(path, "must be a whole number")
	}
	i, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil {
		return 0, problemf(path, "must be a whole number")
	}
	return int32(min(max(i, math.MinInt32), math.MaxInt32)), nil
}
