/**
 * The cases of the cron table: expressions, zones and start times. A second library computes the same cases.
 * Where it differs, `decided` has the correct times and the reason.
 */
export type CronCase = { expression: string; zone: string; from: string }

const ordinary = '2026-01-01T00:00:00Z'

const steps = ['*/1', '*/5', '*/7', '*/15', '*/31', '*/59', '3/10', '50/4', '10-40/9', '0-59/20']
const hours = ['*', '*/2', '*/5', '0-6', '22-23', '9-17/4', '1,13', '5/6', '23', '0,12,23']
const days = ['*', '2', '31', '*/2', '*/10', '1-7', '15,30', '28-31', '29', '31/1', '10-20/3', '1,1,1']
const months = ['*', '1', 'JAN', 'feb', '2', '*/3', '6-8', 'JUN-AUG', '1,4,7,10', 'DEC', '2-12/5', 'mar,SEP']
const weekdays = [
  '0',
  '7',
  'SUN',
  'mon',
  '1-5',
  'MON-FRI',
  'sat,sun',
  '*/2',
  '1-5/2',
  '5-7',
  '0,7',
  'WED',
  '3',
]
const eitherDay = [
  '13 * FRI',
  '1 * MON',
  '*/10 * 3',
  '31 2 MON',
  '29 2 TUE',
  '1-7 * SUN',
  '15 6 1-5',
  '30 2 0',
]
const whole = [
  '* * * * *',
  '0 0 * * *',
  '59 23 31 12 *',
  '0 0 1 1 *',
  '0 12 * * MON-FRI',
  '5,10,15 1,2,3 1,2,3 1,2,3 *',
  '0 0 29 2 *',
  '0 0 31 * *',
  '0 0 30 4,6,9,11 *',
  '0 0 31 1,3,5,7,8,10,12 *',
  '1-5,50-55/2,59 4 * * *',
  '0 0-23/6 * * 6',
]

const zones = [
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'America/St_Johns',
  'Asia/Tokyo',
  'Africa/Johannesburg',
  'America/Argentina/Buenos_Aires',
  'Pacific/Marquesas',
  'Etc/GMT+12',
  'Etc/GMT-14',
]

/** Former and short names of zones. */
export const aliases = [
  'GMT',
  'UCT',
  'Zulu',
  'Greenwich',
  'Universal',
  'Etc/UTC',
  'Etc/UCT',
  'EST',
  'MST',
  'HST',
  'EST5EDT',
  'CST6CDT',
  'MST7MDT',
  'PST8PDT',
  'CET',
  'EET',
  'WET',
  'MET',
  'US/Eastern',
  'US/Central',
  'US/Mountain',
  'US/Pacific',
  'US/Alaska',
  'US/Hawaii',
  'US/Arizona',
  'Canada/Atlantic',
  'Canada/Newfoundland',
  'Brazil/East',
  'Chile/Continental',
  'Mexico/General',
  'Cuba',
  'Jamaica',
  'Eire',
  'GB',
  'GB-Eire',
  'Portugal',
  'Poland',
  'Turkey',
  'Israel',
  'Iran',
  'Egypt',
  'Libya',
  'Hongkong',
  'Japan',
  'ROK',
  'PRC',
  'ROC',
  'Singapore',
  'NZ',
  'NZ-CHAT',
  'Navajo',
  'Iceland',
  'Asia/Calcutta',
  'Asia/Saigon',
  'Asia/Katmandu',
  'Asia/Rangoon',
  'Europe/Kiev',
  'America/Buenos_Aires',
  'Atlantic/Faeroe',
  'Pacific/Samoa',
  'Australia/ACT',
  'Australia/LHI',
]

/** Both clock changes in zones that differ in date, hour and amount of the change. */
export const changes: { zone: string; forward: string; back: string }[] = [
  { zone: 'Europe/Berlin', forward: '2026-03-28T20:00:00Z', back: '2026-10-24T20:00:00Z' },
  { zone: 'America/New_York', forward: '2026-03-08T00:00:00Z', back: '2026-11-01T00:00:00Z' },
  { zone: 'Australia/Lord_Howe', forward: '2026-10-03T08:00:00Z', back: '2026-04-04T08:00:00Z' },
  { zone: 'Pacific/Auckland', forward: '2026-09-26T08:00:00Z', back: '2026-04-04T08:00:00Z' },
  { zone: 'America/Santiago', forward: '2026-09-05T20:00:00Z', back: '2026-04-04T20:00:00Z' },
  { zone: 'America/Havana', forward: '2026-03-07T20:00:00Z', back: '2026-10-31T20:00:00Z' },
  { zone: 'Pacific/Chatham', forward: '2026-09-26T08:00:00Z', back: '2026-04-04T08:00:00Z' },
  { zone: 'Africa/Casablanca', forward: '2026-03-21T20:00:00Z', back: '2026-02-14T20:00:00Z' },
]
const aroundChanges = [
  '30 2 * * *',
  '0 2 * * *',
  '0 3 * * *',
  '59 1 * * *',
  '30 0 * * *',
  '45 23 * * *',
  '0 0 * * *',
  '15 1,2,3 * * *',
]

export const cronCases: CronCase[] = [
  ...steps.map((minute) => ({ expression: `${minute} 3 * * *`, zone: 'UTC', from: ordinary })),
  ...hours.map((hour) => ({ expression: `17 ${hour} * * *`, zone: 'UTC', from: ordinary })),
  ...days.map((day) => ({ expression: `17 3 ${day} * *`, zone: 'UTC', from: ordinary })),
  ...months.map((month) => ({ expression: `17 3 1 ${month} *`, zone: 'UTC', from: ordinary })),
  ...weekdays.map((weekday) => ({ expression: `17 3 * * ${weekday}`, zone: 'UTC', from: ordinary })),
  ...eitherDay.map((rest) => ({ expression: `17 3 ${rest}`, zone: 'UTC', from: ordinary })),
  ...whole.map((expression) => ({ expression, zone: 'UTC', from: ordinary })),
  { expression: '0 0 29 2 *', zone: 'UTC', from: '2096-03-01T00:00:00Z' },
  { expression: '0 0 29 2 *', zone: 'Asia/Tokyo', from: '2028-02-28T15:00:00Z' },
  ...zones.flatMap((zone) =>
    ['0 0 * * *', '30 23 31 12 *', '0 9 * * MON', '0 0 1 * *'].map((expression) => ({
      expression,
      zone,
      from: ordinary,
    })),
  ),
  ...aliases.map((zone) => ({ expression: '30 9 1 */2 *', zone, from: ordinary })),
  ...changes.flatMap(({ zone, forward, back }) =>
    [forward, back].flatMap((from) => aroundChanges.map((expression) => ({ expression, zone, from }))),
  ),
]

export type Decision = CronCase & { times: string[]; why: string }

const skippedTime =
  'A skipped local time is due once, at the first instant after the gap, alone or in a list.'
const repeatedTime = 'A repeated local time is due once, at its first occurrence, alone or in a list.'
const list = '15 1,2,3 * * *'

/** Cases in which the second library differs, with the correct first times. */
export const decided: Decision[] = [
  {
    zone: 'Europe/Berlin',
    from: '2026-03-28T20:00:00Z',
    times: ['2026-03-29T00:15Z', '2026-03-29T01:00Z', '2026-03-29T01:15Z', '2026-03-29T23:15Z'],
    why: skippedTime,
  },
  {
    zone: 'Europe/Berlin',
    from: '2026-10-24T20:00:00Z',
    times: ['2026-10-24T23:15Z', '2026-10-25T00:15Z', '2026-10-25T02:15Z', '2026-10-26T00:15Z'],
    why: repeatedTime,
  },
  {
    zone: 'America/New_York',
    from: '2026-03-08T00:00:00Z',
    times: ['2026-03-08T06:15Z', '2026-03-08T07:00Z', '2026-03-08T07:15Z', '2026-03-09T05:15Z'],
    why: skippedTime,
  },
  {
    zone: 'America/New_York',
    from: '2026-11-01T00:00:00Z',
    times: ['2026-11-01T05:15Z', '2026-11-01T07:15Z', '2026-11-01T08:15Z', '2026-11-02T06:15Z'],
    why: repeatedTime,
  },
  {
    zone: 'Australia/Lord_Howe',
    from: '2026-10-03T08:00:00Z',
    times: ['2026-10-03T14:45Z', '2026-10-03T15:30Z', '2026-10-03T16:15Z', '2026-10-04T14:15Z'],
    why: skippedTime,
  },
  {
    zone: 'Pacific/Auckland',
    from: '2026-09-26T08:00:00Z',
    times: ['2026-09-26T13:15Z', '2026-09-26T14:00Z', '2026-09-26T14:15Z', '2026-09-27T12:15Z'],
    why: skippedTime,
  },
  {
    zone: 'Pacific/Auckland',
    from: '2026-04-04T08:00:00Z',
    times: ['2026-04-04T12:15Z', '2026-04-04T13:15Z', '2026-04-04T15:15Z', '2026-04-05T13:15Z'],
    why: repeatedTime,
  },
  {
    zone: 'Pacific/Chatham',
    from: '2026-09-26T08:00:00Z',
    times: ['2026-09-26T12:30Z', '2026-09-26T13:30Z', '2026-09-26T14:00Z', '2026-09-27T11:30Z'],
    why: skippedTime,
  },
  {
    zone: 'Pacific/Chatham',
    from: '2026-04-04T08:00:00Z',
    times: ['2026-04-04T11:30Z', '2026-04-04T12:30Z', '2026-04-04T13:30Z', '2026-04-05T12:30Z'],
    why: repeatedTime,
  },
  {
    zone: 'Africa/Casablanca',
    from: '2026-03-21T20:00:00Z',
    times: ['2026-03-22T01:15Z', '2026-03-22T02:00Z', '2026-03-22T02:15Z', '2026-03-23T00:15Z'],
    why: skippedTime,
  },
  {
    zone: 'Africa/Casablanca',
    from: '2026-02-14T20:00:00Z',
    times: ['2026-02-15T00:15Z', '2026-02-15T01:15Z', '2026-02-15T03:15Z', '2026-02-16T01:15Z'],
    why: repeatedTime,
  },
].map((decision) => ({ expression: list, ...decision }))

/** The second library rejects a step after a single number, so it gets the equivalent range. */
export const spelledOut: Record<string, string> = {
  '3/10 3 * * *': '3-59/10 3 * * *',
  '50/4 3 * * *': '50-59/4 3 * * *',
  '17 5/6 * * *': '17 5-23/6 * * *',
  '17 3 31/1 * *': '17 3 31 * *',
}

/** Impossible days: refused here, never due in the second library. */
export const impossible = ['0 0 30 2 *', '0 0 31 2 *', '0 0 31 4 *', '0 0 31 6,9,11 *', '0 0 30-31 FEB *']
