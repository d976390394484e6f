import { useState } from 'react'
import { formatCost, formatDuration } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Card, CardHeader } from '../ui/card.tsx'
import type { ChartPoint } from '../ui/charts/chart-data.ts'
import { Lines } from '../ui/charts/lines.tsx'
import { StackedBars } from '../ui/charts/stacked-bars.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { RelativeTime } from '../ui/time.tsx'

/** A week in which only the last day has runs, as for a new agent. */
const week: ChartPoint[] = [0, 0, 0, 0, 0, 0, 28].map((runs, day) => ({
  label: `${day + 1} Mar`,
  values: { runs, cost: runs === 0 ? 0 : 0.22, duration: runs === 0 ? null : 42_000 },
}))

const longDiff = Array.from({ length: 2400 }, (_, at) => `${'-+'[at % 2]}line ${at} of a long change`).join(
  '\n',
)

/** Charts of a new agent, a time that changes and a long diff. */
export function FiguresPart() {
  const [at, setAt] = useState(() => Date.now() - 200_000)
  return (
    <section aria-label="Figures" className="grid gap-4 sm:grid-cols-2">
      <Card>
        <CardHeader title="Runs" />
        <StackedBars label="Runs per day" height={160} data={week} series={[{ id: 'runs', label: 'Runs' }]} />
      </Card>
      <Card>
        <CardHeader title="Cost" />
        <StackedBars
          label="Cost per day"
          height={160}
          format={formatCost}
          data={week}
          series={[{ id: 'cost', label: 'Cost' }]}
        />
      </Card>
      <Card>
        <CardHeader title="Average duration" />
        <Lines
          label="Average duration per day"
          height={160}
          format={formatDuration}
          scale="duration"
          data={week}
          series={[{ id: 'duration', label: 'Average duration' }]}
        />
      </Card>
      <Card>
        <p>
          Last run: <RelativeTime at={at} />
        </p>
        <Button onClick={() => setAt(Date.now())}>Run now</Button>
      </Card>
      <CodeBlock code={longDiff} language="diff" title="changes.diff" className="sm:col-span-2" />
    </section>
  )
}
