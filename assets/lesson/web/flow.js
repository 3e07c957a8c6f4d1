// SPDX-License-Identifier: Apache-2.0
// Lanes of the memory hierarchy: what is under way fills pipes, a load that is waited for goes along each.
const flow = (figure, all) => {
  const narrow = matchMedia('(max-width: 700px)').matches, packetsOfFull = 24;
  const [high, left, long, wide] = narrow ? [150, 8, 300, 400] : [66, 250, 400, 960];
  const depth = 56;
  const picture = svg('svg', {viewBox: `0 0 ${wide} ${all.lanes.length * high}`, role: 'img'});
  const clock = make('p', {class: 'now'});
  const load = make('input', {type: 'range', class: 'loads', min: 0, max: Math.max(0, all.loads.length - 1), value: all.first, 'aria-label': w('under_way'), oninput: () => draw(at)});
  const under = make('output');
  const moving = svg('g');
  let at = 0, control = null;
  const middle = i => high * i + (narrow ? 106 : high / 2);
  const across = lane => Math.max(1, lane.pipe * depth);
  all.lanes.forEach((lane, i) => {
    const side = Math.max(1, lane.square * depth), [y, below] = narrow ? [high * i + 18, high * i + 35] : [middle(i) - 4, middle(i) + 16];
    picture.append(svg('text', {x: 4, y}, lane.name), svg('text', {x: 4, y: below, class: 'size'}, lane.size));
    if (lane.square) picture.append(svg('rect', {x: narrow ? left + long + 20 : 180, y: middle(i) - side / 2, width: side, height: side, class: 'capacity'}));
    picture.append(svg('rect', {x: left, y: middle(i) - across(lane) / 2, width: long, height: across(lane), class: 'pipe'}));
  });
  picture.append(moving);
  const draw = to => {
    at = to;
    const frame = all.frames[at];
    const chosen = all.loads[+load.value];
    clock.textContent = frame.clock;
    if (control) clock.textContent += ` · ${w('slowed', {speed: control.speed()})} ${Math.round(all.stretch / control.speed()).toLocaleString('en')}`;
    under.textContent = chosen ? chosen.label : '';
    moving.replaceChildren();
    all.lanes.forEach((lane, i) => {
      const trips = frame.trips[i], share = chosen && chosen.rungs[i].share;
      const part = (x, width) => moving.append(svg('rect', {x, y: middle(i) - across(lane) / 2, width, height: across(lane), class: 'moving'}));
      if (share >= 1) part(left, long);
      else if (share != null) {
        const packets = Math.max(1, Math.ceil(share * packetsOfFull)), length = share * long / packets;
        for (let k = 0; k < packets; ++k) {
          const begin = (trips + k / packets) % 1 * long, beyond = Math.max(0, begin + length - long);
          part(left + begin, length - beyond);
          if (beyond > 0) part(left, beyond);
        }
      }
      if (trips !== null && all.frames.length > 1) moving.append(svg('circle', {cx: left + trips % 1 * long, cy: middle(i), r: 6, class: 'load'}));
      const [x, y, below] = narrow ? [4, high * i + 52, high * i + 70] : [left + long + 16, middle(i) - 4, middle(i) + 16];
      moving.append(svg('text', {x, y}, chosen ? chosen.rungs[i].label : lane.bandwidth), svg('text', {x, y: below, class: 'size'}, all.frames.length > 1 ? frame.labels[i] : ''));
    });
  };
  if (all.frames.length > 1) {
    control = transport(figure, () => all.frames.length, draw);
    figure.append(control.bar, control.scrub, clock, make('label', {class: 'row'}, under, load), picture);
    control.set(0);
  } else {
    figure.append(clock, picture);
    draw(0);
  }
  figure.append(make('figcaption', {}, w('flow_scale')));
};
