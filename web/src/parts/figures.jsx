// A line of figures with their names: [name, value, tone?].
export const Figures = ({ figures }) => (
  <dl class="figures">
    {figures.map(([name, value, tone]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd class={tone ? `tone-${tone}` : ''}>{value}</dd>
      </div>
    ))}
  </dl>
);
