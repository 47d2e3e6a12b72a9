package hostile

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Methods returns the exported methods of a value, by name.
func Methods(receiver any) []reflect.Method {
	return slices.Collect(reflect.TypeOf(receiver).Methods())
}

// Takes reports whether a method has a parameter of a type.
func Takes(m reflect.Method, t reflect.Type) bool {
	for in := range m.Type.Ins() {
		if in == t {
			return true
		}
	}
	return false
}

// Call calls a method of a value. Argument returns the nth argument of a type, where n counts only arguments of that type. It reads all that
// the method streams, and returns its error.
func Call(receiver any, m reflect.Method, argument func(t reflect.Type, n int) any) error {
	in, counts := []reflect.Value{reflect.ValueOf(receiver)}, map[reflect.Type]int{}
	count := m.Type.NumIn()
	if m.Type.IsVariadic() {
		count--
	}
	for i := 1; i < count; i++ {
		t := m.Type.In(i)
		value := argument(t, counts[t])
		if value == nil {
			return errors.Errorf("cannot call %s: no argument of type %s is known", m.Name, t)
		}
		in = append(in, reflect.ValueOf(value))
		counts[t]++
	}
	var err error
	for _, out := range m.Func.Call(in) {
		if e := errorInValue(out); e != nil {
			err = e
		}
		if out.Kind() == reflect.Func && out.Type().CanSeq2() {
			for _, second := range out.Seq2() {
				err = errorInValue(second)
			}
		}
	}
	return err
}

func errorInValue(v reflect.Value) error {
	if v.Kind() != reflect.Interface || v.IsNil() {
		return nil
	}
	err, _ := v.Interface().(error)
	return err
}

// A Cost is the cost of a function.
type Cost struct {
	// Processor is the processor time, which other programs on the machine change little.
	Processor time.Duration
	// MiB is the peak memory of the heap, above its memory before.
	MiB float64
}

// Measure returns the cost of a function. Nothing else may run meanwhile.
func Measure(run func()) Cost {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // Unused memory counts little.
	runtime.GC()
	baseline, peak, end, ended := readHeapBytes(), uint64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, readHeapBytes())
			}
		}
	}()
	began := processorTime()
	run()
	took := processorTime() - began
	close(end)
	<-ended
	peak = max(peak, readHeapBytes(), baseline)
	return Cost{Processor: took, MiB: float64(peak-baseline) / (1 << 20)}
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	usage := syscall.Rusage{}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // It fails for a wrong argument alone.
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func readHeapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
