/** What `deploy/` asks Prometheus for is what `/metrics` of a platform answers. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { metricDefinitions } from '../server/src/operations/metrics/index.ts'
import { namesIn } from './promql.ts'
import { realMetrics } from './real-metrics.ts'

const deploy = resolve(import.meta.dirname, '../deploy')
const dashboards = readdirSync(join(deploy, 'grafana')).filter((name) => name.endsWith('.json'))
const alertsFile = join(deploy, 'prometheus/alerts.yaml')
type Rules = { groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[] }
type Dashboard = {
  uid: string
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[]
}

const folder = mkdtempSync(join(tmpdir(), 'roost-metrics-'))
let page = ''
before(async () => {
  page = await realMetrics(folder)
})
after(() => rmSync(folder, { recursive: true }))

/** Prometheus adds these to every series. */
const added = ['job', 'instance']

/** The labels of each series of the page by name. Declared ones count, because an idle platform has few series. */
function seriesOf(text: string): Map<string, readonly string[]> {
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
  const series = new Map<string, readonly string[]>([['up', added]])
  for (const { name, type, labels } of metricDefinitions()) {
    if (types.get(name) !== type) continue
    const all = [...labels, ...added]
    if (type !== 'histogram') series.set(name, all)
    else
      for (const part of ['_bucket', '_sum', '_count'])
        series.set(name + part, part === '_bucket' ? [...all, 'le'] : all)
  }
  return series
}

function problemsOf(expression: string, series: ReadonlyMap<string, readonly string[]>): string[] {
  const { metrics, labels } = namesIn(expression)
  const known = metrics.flatMap((name) => series.get(name) ?? [])
  return [
    ...metrics.filter((name) => !series.has(name)).map((name) => `no metric ${name}`),
    ...labels.filter((label) => !known.includes(label)).map((label) => `no label ${label}`),
  ].map((problem) => `${problem} in ${expression}`)
}

test('a running platform answers every metric of the code, and no other one', () => {
  const answered = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  assert.deepEqual(
    answered.toSorted(),
    metricDefinitions()
      .map(({ name, type }) => `${name} ${type}`)
      .toSorted(),
  )
  assert.match(page, /\nroost_database_query_seconds_count\{operation="select"\} [1-9]/)
  assert.match(
    page,
    /\nroost_engine_request_seconds_count\{operation="ensureClosedNetwork",result="ok"\} 1\n/,
  )
})

test('the names keep the conventions of Prometheus', () => {
  for (const { name, type, labels, help } of metricDefinitions()) {
    assert.match(name, /^roost_[a-z_]+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') assert.match(name, /_seconds$/)
    for (const label of labels) assert.match(label, /^[a-z_]+$/, name)
    assert.match(help, /\.$/, name)
  }
})

for (const file of dashboards) {
  test(`every metric and label of ${file} exists`, () => {
    const { uid, panels } = JSON.parse(readFileSync(join(deploy, 'grafana', file), 'utf8')) as Dashboard
    assert.equal(`${uid}.json`, file)
    const series = seriesOf(page)
    assert.ok(panels.length >= 8)
    for (const { title, targets } of panels)
      for (const { expr, legendFormat } of targets) {
        assert.deepEqual(problemsOf(expr, series), [], title)
        const { metrics } = namesIn(expr)
        const labels = metrics.flatMap((name) => series.get(name) ?? [])
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          assert.ok(labels.includes(label), title)
      }
  })
}

test('every metric and label of the alert rules exists, and each alert says what to do', () => {
  const { groups } = parse(readFileSync(alertsFile, 'utf8')) as Rules
  const rules = groups.flatMap((group) => group.rules)
  assert.ok(rules.length >= 12)
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, expr, annotations } of rules) {
    assert.deepEqual(problemsOf(expr, seriesOf(page)), [], alert)
    assert.ok(annotations.summary && annotations.description, alert)
  }
})

test('a wrong name, label or function is found', () => {
  const series = seriesOf(page)
  for (const [expression, problem] of [
    ['sum(rate(roost_http_request_total[5m]))', /no metric roost_http_request_total/],
    ['roost_agents{state="running"}', /no label state/],
    ['sum by (agent) (roost_agents)', /no label agent/],
    ['roost_http_request_seconds', /no metric roost_http_request_seconds/],
  ] as const)
    assert.match(problemsOf(expression, series).join(), problem)
  assert.throws(() => namesIn('rates(roost_agents[5m])'), /no function rates/)
  assert.deepEqual(namesIn('max by (a) (m{b=~"c{d}|e"}) / on (f) n offset 5m > 0.5'), {
    metrics: ['m', 'n'],
    labels: ['a', 'b', 'f'],
  })
})

const promtool = spawnSync('promtool', ['--version']).status === 0
test('promtool accepts the rules, the scrape example and the page', {
  skip: !promtool && 'promtool is not installed',
}, () => {
  execFileSync('promtool', ['check', 'rules', alertsFile])
  execFileSync('promtool', ['check', 'config', '--syntax-only', join(deploy, 'prometheus/prometheus.yaml')])
  execFileSync('promtool', ['check', 'metrics'], { input: page })
})
