package worker

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sealab/codecs"
)

// newPeak resets the peak of a process to its current memory when it is written
// to clear_refs: proc_pid_clear_refs(5).
const newPeak = "5"

// memoryOf returns the total memory of a process and its descendants, read as
// in proc_pid_status(5).
func memoryOf(pid int) (Memory, error) {
	var sum Memory
	for waiting := []int{pid}; len(waiting) > 0; {
		id := waiting[0]
		waiting = append(waiting[1:], childrenOf(id)...)
		m, err := statusOf(id)
		if err != nil && id != pid {
			continue // a child that has exited holds no memory
		}
		if err != nil {
			return Memory{}, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
		}
		sum.Resident += m.Resident
		sum.Peak += m.Peak
		sum.Mapped += m.Mapped
	}
	return sum, nil
}

// childrenOf returns the processes that the threads of a process started.
func childrenOf(pid int) []int {
	var all []int
	folder := fmt.Sprintf("/proc/%d/task/", pid)
	threads, _ := os.ReadDir(folder) // a process that has exited has no threads
	for _, thread := range threads {
		data, err := os.ReadFile(folder + thread.Name() + "/children")
		if err != nil {
			continue // the thread has exited
		}
		for field := range strings.FieldsSeq(string(data)) {
			if id, err := strconv.Atoi(field); err == nil {
				all = append(all, id)
			}
		}
	}
	return all
}

// statusOf returns the memory of one process and resets its peak.
func statusOf(pid int) (Memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(newPeak), 0); err != nil {
		return Memory{}, err
	}
	return parseStatus(data)
}

// parseStatus parses lines such as "VmHWM:   1234 kB".
func parseStatus(data []byte) (Memory, error) {
	var m Memory
	rows := map[string]*uint64{"VmRSS:": &m.Resident, "VmHWM:": &m.Peak, "VmPeak:": &m.Mapped}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		field := strings.Fields(lines.Text())
		if len(field) < 2 || rows[field[0]] == nil {
			continue
		}
		n, err := strconv.ParseUint(field[1], 10, 64)
		if err != nil {
			return Memory{}, fmt.Errorf("worker: %s %q: want a number of kB", field[0], field[1])
		}
		*rows[field[0]] = n << 10
		delete(rows, field[0])
	}
	if len(rows) > 0 {
		return Memory{}, fmt.Errorf("worker: the status of the process does not tell its memory")
	}
	return m, nil
}

// workOf returns the processor time of a process. If descendants is true, it
// adds that of its descendants.
func workOf(pid int, descendants bool) (time.Duration, error) {
	sum, err := processorTime(pid)
	if err != nil {
		return 0, fmt.Errorf("%w: the processor time of process %d: %w", codecs.ErrUnsupported, pid, err)
	}
	if !descendants {
		return sum, nil
	}
	for waiting := childrenOf(pid); len(waiting) > 0; {
		id := waiting[0]
		waiting = append(waiting[1:], childrenOf(id)...)
		spent, err := processorTime(id)
		if err != nil {
			continue // a child that has exited does not work
		}
		sum += spent
	}
	return sum, nil
}

// processorTime reads the processor clock of a process, summed over its
// threads. The ID of the clock contains that of the process:
// clock_getcpuclockid(3).
func processorTime(pid int) (time.Duration, error) {
	const ofSchedule = 2 // CPUCLOCK_SCHED in the kernel
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|ofSchedule), &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}
