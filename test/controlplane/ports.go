package controlplane

import "github.com/intentplane/intentplane/test/controlplane/port"

// ports are the ports that components listen on, on loopback.
type ports struct {
	coreMetrics, coreProbe, function, functionMetrics, providerMetrics, providerProbe, standbyProbe int
}

// findFreePorts returns ports without a listener.
func findFreePorts() (ports, error) {
	p := ports{}
	wanted := []*int{&p.coreMetrics, &p.coreProbe, &p.function, &p.functionMetrics, &p.providerMetrics, &p.providerProbe, &p.standbyProbe}
	free, err := port.Free(len(wanted))
	if err != nil {
		return ports{}, err
	}
	for i, number := range wanted {
		*number = free[i]
	}
	return p, nil
}
