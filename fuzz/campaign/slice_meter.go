package campaign

import "time"

// recordEvery is how often the progress of a slice is recorded.
const recordEvery = 10 * time.Second

// A meter turns what the engine counts since its start into records of what
// happened since the record before.
type meter struct {
	campaign *Campaign
	target   Target
	workers  int
	last     time.Time
	recorded count
	err      error // the first record that could not be written
}

func (m *meter) progress(now count) {
	if m.err == nil && m.campaign.config.Now().Sub(m.last) >= recordEvery {
		m.err = m.record(now)
	}
}

func (m *meter) record(now count) error {
	at := m.campaign.config.Now()
	r := Record{
		Time: at, Event: EventProgress, Target: m.target.Name,
		Executions: now.executions - m.recorded.executions, Seconds: at.Sub(m.last).Seconds() * float64(m.workers), New: now.found - m.recorded.found,
		Coverage: now.coverage, Corpus: now.corpus,
	}
	m.recorded, m.last = now, at
	return m.campaign.journal.append(r)
}
